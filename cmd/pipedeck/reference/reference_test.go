// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/defaults"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/mcp"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/plugin"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/root"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func TestThePageHasEveryCommandWithItsFlagsAndVariables(t *testing.T) {
	t.Parallel()
	page := Page(Tree())
	for _, want := range []string{
		"## pipedeck up\n", "## pipedeck plugin verify\n", "## pipedeck validate\n", "## pipedeck completion zsh\n",
		"| `--name string` |", "`PIPEDECK_UP_CLUSTER`, `PIPEDECK_CLUSTER`", "| 130 | interrupted |",
		"| `--strict` | treat warnings as errors |",
	} {
		require.Contains(t, page, want)
	}
	for _, not := range []string{"## pipedeck host", "compile-embedded", "PIPEDECK_UP_YES", "## pipedeck help"} {
		require.NotContains(t, page, not)
	}
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	require.NotContains(t, page, home, "it depends on no machine")
}

func TestEveryCommandHasAManualPage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man")
	require.NoError(t, Manual(Tree(), dir, "0.1.0", time.Unix(1_700_000_000, 0).UTC()))
	for _, name := range []string{"pipedeck", "pipedeck-up", "pipedeck-plugin-verify"} {
		content, err := os.ReadFile(filepath.Join(dir, name+".1"))
		require.NoError(t, err)
		require.Contains(t, string(content), `"Nov 2023" "pipedeck 0.1.0"`)
	}
	require.NoFileExists(t, filepath.Join(dir, "pipedeck-host.1"))
}

// A flag with several meanings has no variable for all commands. pipedeck and pipedeck-more see only their own
// commands, and must come to the same result as one that sees all.
func TestBothProgramsAgreeWhichFlagsHaveAVariableForAllCommands(t *testing.T) {
	t.Parallel()
	target := &session.Target{}
	more := &cobra.Command{Use: "pipedeck"}
	more.AddCommand(append(configuration.Commands(target), plugin.NewCommand(target), mcp.NewCommand(target))...)
	whole := Tree()
	for _, program := range []*cobra.Command{root.New(target), more} {
		for _, cmd := range shown(program) {
			cmd.Flags().VisitAll(func(flag *pflag.Flag) {
				if defaults.Refused(flag.Name) {
					return
				}
				assert.Equal(t, defaults.Variables(whole, cmd, flag), defaults.Variables(program, cmd, flag),
					"--%s of %s differs from that of a command of the other program: add it to severalMeanings of "+
						"package defaults, or give both the same usage", flag.Name, path(cmd))
			})
		}
	}
}
