// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"bytes"
	"encoding/pem"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheCostThatAKeyAsksForHasABound(t *testing.T) {
	t.Parallel()
	for name, cost := range map[string][3]int{
		"nothing": {0, 8, 1}, "negative": {2, 8, -1}, "one large table": {1 << 30, 8, 1},
		"large blocks": {2, 1 << 22, 16}, "many": {2, 8, 17},
	} {
		var s sealed
		s.KDF.Params.N, s.KDF.Params.R, s.KDF.Params.P = cost[0], cost[1], cost[2]
		_, err := s.key("secret")
		require.ErrorIs(t, err, errCost, name)
	}
}

// The cost is a small one: what cosign wrote is read in another test.
func TestKeysAreSealedWithAPassword(t *testing.T) {
	t.Parallel()
	key, err := Generate(Sigstore)
	require.NoError(t, err)
	plain, err := key.File("")
	require.NoError(t, err)
	block, _ := pem.Decode(plain)
	data, err := seal(block.Bytes, "secret", 1<<4)
	require.NoError(t, err)
	require.False(t, bytes.Contains(data, block.Bytes))
	file := pem.EncodeToMemory(&pem.Block{Type: typeEncrypted, Bytes: data})
	password := func(text string, err error) func() (string, error) {
		return func() (string, error) { return text, err }
	}

	read, err := ParsePrivateKey(file, password("secret", nil))
	require.NoError(t, err)
	require.Equal(t, key.Public().String(), read.Public().String())
	_, err = ParsePrivateKey(file, password("wrong", nil))
	require.ErrorContains(t, err, "give the password of the key")
	noOne := errors.New("no one is there")
	_, err = ParsePrivateKey(file, password("", noOne))
	require.ErrorIs(t, err, noOne)
}
