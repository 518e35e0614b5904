// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAQuestionWithoutASourceIsRefused(t *testing.T) {
	t.Parallel()
	_, err := new(Store).Get(t.Context(), Query{Destinations: []Destination{{}}})
	require.ErrorIs(t, err, errNoSource)
}
