#!/bin/sh
# Runs the tests: sh test.sh
. ./lib/price.sh

failed=0
check() { # name, expected, actual
  if [ "$2" = "$3" ]; then
    echo "ok   $1"
  else
    echo "FAIL $1: expected $2, got $3"
    failed=1
  fi
}

check "total of nothing" 0 "$(total)"
check "total of three prices" 600 "$(total 100 200 300)"
check "no discount" 1000 "$(discounted 1000 0)"
check "a quarter off" 750 "$(discounted 1000 25)"

exit "$failed"
