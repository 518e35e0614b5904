// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the first try writes is not shown when it is only that the state is locked: the second one waits.
func TestARefusedLockIsHeldBackAndEverythingElseIsPassedOn(t *testing.T) {
	t.Parallel()
	const waits = "Acquiring state lock. This may take a few moments...\n"
	type texts = []string
	for name, c := range map[string]struct {
		written texts
		held    bool
	}{
		"nothing yet":                 {texts{""}, true},
		"a refusal":                   {texts{"\n", "Error: Error acquiring the state lock\n", "\nLock Info:\n"}, true},
		"a refusal in a frame":        {texts{"╷\n│ Error: Error acq", "uiring the state lock\n│ \n╵\n"}, true},
		"a refusal of a slow backend": {texts{waits, "╷\n│ Error: Error acquiring the state lock\n"}, true},
		"progress":                    {texts{"terraform_data.a: Creating...\n", "more\n"}, false},
		"progress of a slow backend":  {texts{waits, "terraform_data.a: Creating...\n"}, false},
		"another error":               {texts{"╷\n│ Error: ", "Saved plan is stale\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shown, all bytes.Buffer
			r := &refusable{to: &shown}
			for _, text := range c.written {
				all.WriteString(text)
				_, err := r.Write([]byte(text))
				require.NoError(t, err)
			}
			require.Equal(t, c.held, shown.Len() == 0, shown.String())
			r.flush()
			require.Equal(t, all.String(), shown.String())
		})
	}
}

func TestFlagsOfUsersThatSayHowToLockAreKept(t *testing.T) {
	t.Parallel()
	for flag, sets := range map[string]bool{"-lock-timeout=1m": true, "--lock=false": true, "-lock": true,
		"-var=lock=no": false, "lock=no": false, "-parallelism=3": false} {
		require.Equal(t, sets, setsLock(flag), flag)
	}
}
