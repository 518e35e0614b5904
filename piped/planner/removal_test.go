// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheCommandThatForgetsAnApplicationNamesIt(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &unremovableError{[]string{"terraform", "lambda"}, "net"},
		"plugin terraform, lambda has no stage that deletes what it has deployed; delete that by hand, then forget "+
			"the application with: pipedeck remove net --orphan")
}
