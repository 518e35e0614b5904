// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestASecretIsFoundInBase64OfWhatIsAroundIt(t *testing.T) {
	t.Parallel()
	const secret = "canary>>>7Qm2xVt9~~~ÿ"
	for _, before := range []string{"", "u", "us", "use", "user:"} {
		for _, after := range []string{"", "\n", "!!", "end"} {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
				text := "Authorization: Basic " + encoding.EncodeToString([]byte(before+secret+after))
				require.True(t, holds(text, secret), before+secret+after)
			}
		}
	}
	require.False(t, holds(base64.StdEncoding.EncodeToString([]byte("user:another secret")), secret))
}

func TestAShortSecretIsLookedForAsItIs(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"ab"}, forms("ab"))
	require.False(t, holds(strings.Repeat("YWI= 6162 97 98 ", 3), "ab"))
	require.True(t, holds("ab", "ab"))
}
