// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheNameChoosesThePlugin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, program, want string }{
		"a link":                          {"", "/usr/lib/pipedeck/bin/plugins/wait", "wait"},
		"a copy of piped":                 {"", "/plugins/scriptrun-0123456789abcdef", "scriptrun"},
		"a copy with another name":        {"wait", "/plugins/pause-0123456789abcdef", "wait"},
		"the name that piped gives first": {"wait", "/plugins/scriptrun-0123456789abcdef", "wait"},
		"a name that is none of ours":     {"bundled", "/bin/plugins/wait", "wait"},
		"a short ending":                  {"", "/bin/wait-0123", ""},
		"nothing known":                   {"", "/bin/bundled", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ran := ""
			plugins := map[string]func(){
				"wait": func() { ran = "wait" }, "scriptrun": func() { ran = "scriptrun" },
			}
			run, err := choose(plugins, c.given, c.program)
			if c.want == "" {
				require.ErrorContains(t, err, "this program holds the plugins scriptrun, wait")
				require.ErrorContains(t, err, "next step")
				return
			}
			require.NoError(t, err)
			run()
			require.Equal(t, c.want, ran)
		})
	}
}
