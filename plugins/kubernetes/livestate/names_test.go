// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnApplicationWhoseNameComesLaterIsAskedForAgain(t *testing.T) {
	t.Parallel()
	n := newNames()
	require.Equal(t, "id-b", n.of("id-b", "id-a"))
	require.Equal(t, []string{"id-a"}, n.learn("id-b", "web"))
	require.Equal(t, "web", n.of("id-b", "id-a"))
	require.Empty(t, n.learn("id-b", "web2"), "once")
	require.Equal(t, "web2", n.of("id-b", "id-a"))
	require.Equal(t, "id-b", (*names)(nil).of("id-b", "id-a"))
	require.Empty(t, (*names)(nil).learn("id-b", "web"))
}
