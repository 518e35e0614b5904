// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersInNamesCount(t *testing.T) {
	t.Parallel()
	want := []string{"", "1", "app", "app-1-b", "app-2-a", "app1", "app2", "app02", "app10", "app10x",
		"app99999999999999999999998", "app99999999999999999999999", "apq"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Natural)
	// Equal numbers in different writing have an order, too, whichever it is.
	for _, list := range [][]string{want, got} {
		slices.SortStableFunc(list, Natural)
	}
	require.Equal(t, want, got)
	for _, a := range got {
		for _, b := range got {
			require.Equal(t, a == b, Natural(a, b) == 0, "%q %q", a, b)
			require.Equal(t, Natural(a, b), -Natural(b, a))
		}
	}
}
