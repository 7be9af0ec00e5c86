"""How well the right record or page is found, on judged sets, by the product and by what one would use instead."""
