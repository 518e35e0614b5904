// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package more

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func TestCommandLinesOfTheOtherProgramAreFound(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"validate": "validate", "validate app.pipecd.yaml -o json": "validate", "plugin": "plugin",
		"--name x plugin test ./here": "plugin", "--name=x plugin": "plugin", "plugin test --help": "plugin",
		"help plugin": "plugin", "help plugin test": "plugin", "__complete plugin te": "plugin",
		"__complete plugin ": "plugin", "__completeNoDesc migrate ": "migrate",
		"": "", "up": "", "up validate": "", "--name validate up": "", "help": "", "help up": "", "nonsense": "",
		"plugin new x": "", "--name x plugin new": "", "__complete plugin new x": "",
		"__complete ": "", "__complete plug": "", "__complete plugin": "", "__complete up --sa": "",
	} {
		root := &cobra.Command{Use: "pipedeck"}
		root.PersistentFlags().String("name", "", "")
		root.AddCommand(&cobra.Command{Use: "up", Run: func(*cobra.Command, []string) {}})
		root.AddCommand(Commands(&cobra.Command{Use: "new", Run: func(*cobra.Command, []string) {}})...)
		var args []string
		if line != "" {
			args = strings.Split(line, " ")
		}
		found := Find(root, args)
		if want == "" {
			require.Nil(t, found, line)
			continue
		}
		require.NotNil(t, found, line)
		require.Equal(t, want, found.Name(), line)
	}
}

func TestCompletionIsSilentWhileTheOtherProgramIsMissing(t *testing.T) {
	t.Parallel()
	var out, errOut bytes.Buffer
	cmd := NewCommand(&session.Target{}, "validate", []string{"__complete", "validate", ""})
	require.Zero(t, exit.Run(t.Context(), cmd, []string{}, func() string { return "" }, &out, &errOut))
	require.Equal(t, ":4\n", out.String(), "no files, no error")
	require.Empty(t, errOut.String())
}

func TestACommandWhoseProgramIsMissingSaysWhatToDo(t *testing.T) {
	t.Parallel()
	state := func(s deckv1.Component_State, done, total int64) *deckv1.Component {
		return &deckv1.Component{State: s, Detail: "looking", Done: done, Total: total}
	}
	for name, c := range map[string]struct {
		compiling  *deckv1.Component
		says, hint string
	}{
		"nothing compiles it": {nil, "which does not exist", "make build"},
		"it was compiled": {state(deckv1.Component_STATE_READY, 0, 0), "which does not exist",
			"make build"},
		"it is counted":      {state(deckv1.Component_STATE_STARTING, 0, 0), "being compiled: looking", "status"},
		"a part is compiled": {state(deckv1.Component_STATE_STARTING, 3, 9), "3 of 9 packages", "status"},
		"it waits":           {state(deckv1.Component_STATE_PENDING, 0, 0), "being compiled", "status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := missing("validate", "/bin/pipedeck-more", c.compiling)
			require.ErrorContains(t, err, "validate is ")
			require.ErrorContains(t, err, c.says)
			var failure *exit.Error
			require.True(t, errors.As(err, &failure))
			require.Equal(t, exit.WrongUsage, failure.Code)
			require.Contains(t, failure.Hint, c.hint)
		})
	}
}
