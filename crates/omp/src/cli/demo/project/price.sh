# Prices are whole cents.

# total PRICE…: the sum of all prices.
total() {
  sum=0
  for price in "$@"; do
    sum=$((sum + price))
  done
  echo "$sum"
}

# discounted PRICE PERCENT: the price less a discount, rounded up.
discounted() {
  echo $(($1 - $1 * $2 / 10))
}
