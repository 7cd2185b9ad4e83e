"""Shares of counts, as several pages judge them."""


def wilson(count, of, z=1.96):
    """Wilson's interval of a share, 95 % where nothing else is said."""
    share, reach = count / of, z**2 / of
    middle, width = share + reach / 2, (share * (1 - share) * reach + reach**2 / 4) ** 0.5
    return (middle - width) / (1 + reach), (middle + width) / (1 + reach)
