// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// line is what a command line of the tests has set.
type line struct {
	name, cluster, theme, output string
	samples                      []string
	plugins                      map[string]string
	timeout                      time.Duration
	live, yes, forCommand        bool
	ran                          string
}

// program returns commands with flags such as those of pipedeck.
func program(l *line) *cobra.Command {
	root := &cobra.Command{Use: "pipedeck", SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().StringVar(&l.name, "name", "default", "environment")
	for _, name := range []string{"up", "ci", "status", "host"} {
		cmd := &cobra.Command{Use: name, Hidden: name == "host", RunE: func(cmd *cobra.Command, _ []string) error {
			l.ran, l.forCommand = name, GivenForCommand(cmd.Flags().Lookup("name"))
			return nil
		}}
		cmd.Flags().StringVarP(&l.output, "output", "o", "", "of "+name)
		if name != "status" {
			cmd.Flags().StringVar(&l.cluster, "cluster", "auto", "kind of cluster")
			cmd.Flags().StringArrayVar(&l.samples, "sample", nil, "samples")
			cmd.Flags().StringToStringVar(&l.plugins, "plugin", nil, "plugins")
			cmd.Flags().DurationVar(&l.timeout, "timeout", time.Minute, "of "+name)
			cmd.Flags().BoolVar(&l.live, "live", false, "saved files")
			cmd.Flags().BoolVar(&l.yes, "yes", false, "consent")
			cmd.Flags().StringVar(&l.theme, "theme", "", "theme")
		}
		root.AddCommand(cmd)
	}
	root.AddCommand(&cobra.Command{Use: "plugin", DisableFlagParsing: true, Run: func(*cobra.Command, []string) {}})
	return root
}

// run runs a command line with a file and variables.
func run(t *testing.T, content string, environ []string, args ...string) (line, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	var l line
	root := program(&l)
	if err := Apply(root, args, Source{Environ: environ, File: path}); err != nil {
		return l, err
	}
	root.SetArgs(args)
	return l, root.Execute()
}

func TestTheCommandLineComesBeforeVariablesAndTheseBeforeTheFile(t *testing.T) {
	t.Parallel()
	const file = "up: {cluster: of-file, sample: [a, b], live: true, plugin: {x: y}}\n" +
		"all: {name: mine, cluster: of-all}\nci: {timeout: 5m}\nstatus: {output: json}\n"
	for name, c := range map[string]struct {
		environ []string
		args    string
		want    line
	}{
		"the file's lines for the command": {nil, "up", line{name: "mine", cluster: "of-file",
			samples: []string{"a", "b"}, plugins: map[string]string{"x": "y"}, timeout: time.Minute, live: true}},
		"the file's lines for all": {nil, "ci", line{name: "mine", cluster: "of-all", timeout: 5 * time.Minute}},
		"a variable": {[]string{"PIPEDECK_CLUSTER=of-variable", "PIPEDECK_NAME=", "PIPEDECK_SAMPLE=c\nd"}, "up",
			line{name: "mine", cluster: "of-variable", samples: []string{"c", "d"},
				plugins: map[string]string{"x": "y"}, timeout: time.Minute, live: true}},
		"a variable of the command": {[]string{"PIPEDECK_CI_CLUSTER=of-ci", "PIPEDECK_CLUSTER=of-variable",
			"PIPEDECK_UP_CLUSTER=of-up", "PIPEDECK_CI_NAME=own"}, "ci",
			line{name: "own", cluster: "of-ci", timeout: 5 * time.Minute, forCommand: true}},
		"the command line": {[]string{"PIPEDECK_UP_CLUSTER=of-up", "PIPEDECK_SAMPLE=c"},
			"up --cluster given --sample e --live=false --name n",
			line{name: "n", cluster: "given", samples: []string{"e"}, plugins: map[string]string{"x": "y"},
				timeout: time.Minute, forCommand: true}},
		"a flag that differs has no variable for all": {[]string{"PIPEDECK_TIMEOUT=9m", "PIPEDECK_OUTPUT=json"}, "ci",
			line{name: "mine", cluster: "of-all", timeout: 5 * time.Minute}},
		"a table does not read the variable of streams": {[]string{"PIPEDECK_OUTPUT=plain"}, "status",
			line{name: "mine", cluster: "auto", output: "json", timeout: time.Minute}},
		"the process of an environment takes none": {[]string{"PIPEDECK_CLUSTER=of-variable"}, "host",
			line{name: "default", cluster: "auto", timeout: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(c.args)
			c.want.ran = args[0]
			got, err := run(t, file, c.environ, args...)
			require.NoError(t, err)
			if len(got.samples) == 0 {
				got.samples = nil
			}
			if len(got.plugins) == 0 {
				got.plugins = nil
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestAVariableThatIsReadElsewhereKeepsItsMeaningAndComesBeforeTheFile(t *testing.T) {
	t.Parallel()
	got, err := run(t, "up: {theme: of-file}", []string{"PIPEDECK_THEME=of-variable"}, "up")
	require.NoError(t, err)
	require.Empty(t, got.theme, "the terminal UI reads the variable")
	got, err = run(t, "up: {theme: of-file}", []string{"PIPEDECK_THEME=x", "PIPEDECK_UP_THEME=of-command"}, "up")
	require.NoError(t, err)
	require.Equal(t, "of-command", got.theme)
	got, err = run(t, "up: {theme: of-file}", nil, "up")
	require.NoError(t, err)
	require.Equal(t, "of-file", got.theme)
}

func TestMistakesHaveTheirPlaceAndTheNearestName(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"upp: {live: true}":                `:1:1: there is no command "upp"; did you mean up?`,
		"up:\n  clustr: kind":              `:2:3: up: there is no flag "clustr"; did you mean cluster?`,
		"up: {yes: true}":                  ":1:6: up: yes cannot be a default, because it consents",
		"all: {yes: true}":                 ":1:7: all: yes cannot be a default",
		"all: {output: json}":              ":1:7: all: output differs from command to command",
		"up: {live: perhaps}":              ":1:12: perhaps is not a value of --live",
		"up: {live: true, live: false}":    ":1:18: live stands at ",
		"up: kind":                         ":1:5: want a mapping of flags",
		"- up":                             ":1:1: want a mapping of commands",
		"up: {sample: [[a]]}":              ":1:15: up: sample has no value",
		"up: {cluster: }":                  "up: cluster has no value",
		"up: [":                            ":1:1: not valid YAML",
		"host: {live: true}":               `there is no command "host"`,
		"up: {help: true}":                 `there is no flag "help"`,
		strings.Repeat("#\n", maxSize/2+1): "is larger than 64 KiB",
	} {
		_, err := run(t, content, nil, "up")
		require.ErrorContains(t, err, want, content)
		require.ErrorContains(t, err, "config.yaml:", content)
	}
	_, err := run(t, strings.Repeat("x", 10)+": {}\n"+strings.Repeat("\n", 3)+"live: {}\n", nil, "status")
	require.ErrorContains(t, err, "live")
	for _, environ := range []string{"PIPEDECK_LIVE=perhaps", "PIPEDECK_UP_TIMEOUT=soon", "PIPEDECK_YES=1"} {
		_, err := run(t, "", []string{environ}, "up")
		require.ErrorContains(t, err, strings.Split(environ, "=")[0]+": ")
		_, err = run(t, "", []string{environ}, "status")
		require.NoError(t, err, "the command does not have the flag")
	}
}

func TestHelpAndCompletionWorkWhateverTheFileSays(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"help up", "up --help", "__complete up --theme ", "--version", ""} {
		_, err := run(t, "upp: [\n", nil, strings.Split(args, " ")...)
		require.NotErrorAs(t, err, new(*Mistakes), args)
	}
	var l line
	root := program(&l)
	require.NoError(t, Apply(root, []string{"__complete", "up", "--theme", ""},
		Source{Environ: []string{"PIPEDECK_NAME=mine"}}))
	require.Equal(t, "mine", l.name, "what is completed is that of the user's environment")
}

func TestLinesOfCommandsOfAnotherProgramAreLeftToIt(t *testing.T) {
	t.Parallel()
	_, err := run(t, "plugin: {whatever: 1}\nplugin test: {verbose: true}\n", nil, "up")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("deploy: {x: y}\nall: {z: 1}\nup: {livee: true}\n"), 0o600))
	err = Apply(program(&line{}), []string{"up"}, Source{File: path, Part: true})
	require.ErrorContains(t, err, `there is no flag "livee"`)
	require.NotContains(t, err.Error(), "deploy")

	whole := &cobra.Command{Use: "pipedeck"}
	group := &cobra.Command{Use: "plugin"}
	group.AddCommand(&cobra.Command{Use: "test", Run: func(*cobra.Command, []string) {}})
	whole.AddCommand(group)
	require.ErrorContains(t, Check(whole, []byte("plugin tset: {}\nup: {}\n"), "f", true).err(),
		`f:1:1: there is no command "plugin tset"; did you mean plugin test?`)
	require.NoError(t, Check(whole, []byte("plugin test: {}\nup: {}\n"), "f", true).err())
}

func TestAFileThatOthersCanWriteIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("up: {live: true}"), 0o600))
	require.NoError(t, os.Chmod(path, 0o666))
	require.ErrorContains(t, Apply(program(&line{}), []string{"up"}, Source{File: path}), "chmod o-w "+path)
	require.NoError(t, Apply(program(&line{}), []string{"up"}, Source{File: path + "x"}), "none is none")
	require.ErrorContains(t, Apply(program(&line{}), []string{"up"}, Source{File: path + "x", Named: true}),
		"no such file")
}
