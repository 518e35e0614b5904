// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATemplateThatWasFilledInIsRecognised(t *testing.T) {
	t.Parallel()
	const template = "a: {{ .encryptedSecrets.a }}\nb: '{{ .encryptedSecrets.b }}'\nc: d\n"
	for text, is := range map[string]bool{
		"a: 1\nb: '2'\nc: d\n":    true,
		"a: \nb: ''\nc: d\n":      true,
		"a: x\nb: 'b: '\nc: d\n":  true,
		"a: 1\nb: '2'\nc: e\n":    false,
		"a: 1\nc: d\nb: '2'\n":    false,
		"z: 1\nb: '2'\nc: d\n":    false,
		"a: 1\nb: '2'\nc: d\nx\n": false,
		"":                        false,
	} {
		require.Equal(t, is, fills([]byte(template), []byte(text)), text)
	}
	require.False(t, fills([]byte("a: b\n"), []byte("a: b\n")), "it has no action")
}
