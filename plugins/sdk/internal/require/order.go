// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package require

import (
	"cmp"
	"testing"
)

// Less requires that the first value is less than the second.
func Less[T cmp.Ordered](t testing.TB, a, b T, message ...any) {
	t.Helper()
	if a >= b {
		fail(t, message, "%v is not less than %v", a, b)
	}
}

// LessOrEqual requires that the first value is not greater than the second.
func LessOrEqual[T cmp.Ordered](t testing.TB, a, b T, message ...any) {
	t.Helper()
	if a > b {
		fail(t, message, "%v is greater than %v", a, b)
	}
}

// Greater requires that the first value is greater than the second.
func Greater[T cmp.Ordered](t testing.TB, a, b T, message ...any) {
	t.Helper()
	if a <= b {
		fail(t, message, "%v is not greater than %v", a, b)
	}
}

// GreaterOrEqual requires that the first value is not less than the second.
func GreaterOrEqual[T cmp.Ordered](t testing.TB, a, b T, message ...any) {
	t.Helper()
	if a < b {
		fail(t, message, "%v is less than %v", a, b)
	}
}

// Positive requires a value above zero.
func Positive[T cmp.Ordered](t testing.TB, value T, message ...any) {
	t.Helper()
	var zero T
	if value <= zero {
		fail(t, message, "%v is not positive", value)
	}
}
