#include "tests/unit/reference/programs.h"
