// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/secrets"
)

func TestASealedValueOpensForThoseWithTheKeyInItsPlaceOnly(t *testing.T) {
	t.Parallel()
	masker := secrets.NewMasker()
	require.NoError(t, masker.Add("open sesame"))
	key := keyPair(t)
	s, err := secrets.NewSealer(key, masker)
	require.NoError(t, err)
	_, ok := s.Seal("nothing to hide", "here")
	require.False(t, ok)
	sealed, ok := s.Seal("say: open sesame!", "here")
	require.True(t, ok)
	require.NotContains(t, sealed, "sesame")

	next, err := secrets.NewSealer(key, secrets.NewMasker()) // of the next piped, which has decrypted nothing yet
	require.NoError(t, err)
	value, err := next.Open(sealed, "here")
	require.NoError(t, err)
	require.Equal(t, "say: open sesame!", value)

	_, err = next.Open(sealed, "there")
	require.ErrorContains(t, err, "it was changed")
	_, err = next.Open("******", "here")
	require.ErrorContains(t, err, "no sealed value")
	_, err = next.Open("sealed1.!", "here")
	require.ErrorContains(t, err, "not base64")
	_, err = next.Open("sealed1.", "here")
	require.Error(t, err)
	none, err := secrets.NewSealer(nil, masker)
	require.NoError(t, err)
	_, err = none.Open(sealed, "here")
	require.ErrorContains(t, err, "no secretManagement")
	_, ok = none.Seal("open sesame", "here")
	require.False(t, ok)
}
