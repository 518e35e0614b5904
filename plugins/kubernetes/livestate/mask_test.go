// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASecretIsTheSameHoweverItIsWrittenAndHoweverOftenItIsMasked(t *testing.T) {
	t.Parallel()
	m := newMasker()
	written := parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {x: hunter2}, data: {y: "+
		"aHVudGVyMg==}}")
	stored := parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: aHVudGVyMg==, y: aHVudGVyMg==}}")
	m.mask(written)
	m.mask(stored)
	once := stored.DeepCopy()
	m.mask(stored)
	require.Equal(t, once.Object, stored.Object)
	require.Equal(t, stored.Object, written.Object)
	for _, hash := range []string{"hunter2", "aHVudGVyMg=="} {
		data, err := stored.MarshalJSON()
		require.NoError(t, err)
		require.NotContains(t, string(data), hash)
	}
	other := parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: aHVudGVyMg==, y: aHVudGVyMw==}}")
	m.mask(other)
	require.NotEqual(t, stored.Object["data"], other.Object["data"])
	again := parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {x: hunter2}}")
	newMasker().mask(again)
	require.NotEqual(t, stored.Object["data"].(map[string]any)["x"], again.Object["data"].(map[string]any)["x"],
		"another process makes other hashes")
}

func TestOnlySecretsAreMasked(t *testing.T) {
	t.Parallel()
	o := parse(t, "{apiVersion: example.com/v1, kind: Secret, metadata: {name: a}, data: {x: hunter2}}")
	before := o.DeepCopy()
	newMasker().mask(o)
	require.Equal(t, before.Object, o.Object)
}
