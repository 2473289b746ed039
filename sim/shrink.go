package sim

import "slices"

// Shrink returns the smallest case that it finds to violate the same invariant
// as c, which must violate one: with fewer faults, sites, pages and processes.
// It runs at most so many cases.
func Shrink(c Case, runs int) Case {
	want := Run(c, nil).Violation.Kind
	fails := func(smaller Case) bool {
		if runs <= 0 {
			return false
		}
		runs--
		v := Run(smaller, nil).Violation
		return v != nil && v.Kind == want
	}
	for before := -1; before != size(c) && runs > 0; {
		before = size(c)
		c = fewerFaults(c, fails)
		c = fewerOf(c, fails)
	}
	return c
}

// size is what shrinking makes smaller.
func size(c Case) int { return len(c.Faults) + c.Sites + c.Pages + c.Processes }

// fewerFaults leaves faults out: half of them, a quarter, ..., one by one.
func fewerFaults(c Case, fails func(Case) bool) Case {
	for n := len(c.Faults); n > 0; n /= 2 {
		for from := 0; from+n <= len(c.Faults); {
			smaller := c
			smaller.Faults = slices.Delete(slices.Clone(c.Faults), from, from+n)
			if fails(smaller) {
				c = smaller
			} else {
				from += n
			}
		}
	}
	return c
}

// fewerOf makes the web and the processes fewer.
func fewerOf(c Case, fails func(Case) bool) Case {
	if smaller := c; c.Twins {
		smaller.Twins = false
		if fails(smaller) {
			c = smaller
		}
	}
	if smaller := c; c.Names {
		smaller.Names = false
		if fails(smaller) {
			c = smaller
		}
	}
	for _, field := range []func(*Case) *int{
		func(c *Case) *int { return &c.Sites },
		func(c *Case) *int { return &c.Pages },
		func(c *Case) *int { return &c.Processes },
	} {
		for *field(&c) > 1 {
			smaller := c
			*field(&smaller) = *field(&c) / 2
			if !fails(smaller) {
				*field(&smaller) = *field(&c) - 1
				if !fails(smaller) {
					break
				}
			}
			c = smaller
		}
	}
	return c
}
