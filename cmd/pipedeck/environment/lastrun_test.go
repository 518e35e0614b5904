// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestAnEnvironmentThatIsStartedAgainHasTheFlagsOfItsLastRun(t *testing.T) {
	t.Parallel()
	repo := clitest.Repository(t, clitest.GoodApplication)
	other := clitest.Repository(t, clitest.GoodApplication)
	const starts, apart = `environment "demo" starts with the flags of its last run: `, "its flags do not apply now: "
	own := []string{"--cluster=embedded", "--piped-config=../piped.yaml", "--plugin=mine=./mine", "--", "."}
	ownPath, mine := absolute(repo, "../piped.yaml"), "mine="+absolute(repo, "mine")
	for name, c := range map[string]struct {
		before, flags, args []string
		want                []string
		note                string
	}{
		"no flags": {own, nil, []string{repo},
			[]string{"--cluster=embedded", "--plugin=" + mine, "--piped-config=" + ownPath},
			starts + "--cluster=embedded --plugin=" + mine + " --piped-config=" + ownPath},
		"another file": {own, []string{"--piped-config=/own.yaml"}, []string{repo},
			[]string{"--cluster=embedded", "--plugin=" + mine, "--piped-config=/own.yaml"},
			starts + "--cluster=embedded --plugin=" + mine},
		"none any more": {own, []string{"--piped-config="}, []string{repo},
			[]string{"--cluster=embedded", "--plugin=" + mine}, starts + "--cluster=embedded --plugin=" + mine},
		"one more plugin": {own, []string{"--plugin=wait=/bin/wait"}, []string{repo},
			[]string{"--cluster=embedded", "--plugin=wait=/bin/wait", "--plugin=" + mine, "--piped-config=" + ownPath},
			starts + "--cluster=embedded --plugin=" + mine + " --piped-config=" + ownPath},
		"the same": {own, []string{"--cluster=embedded", "--plugin=" + mine, "--piped-config=" + ownPath},
			[]string{repo}, []string{"--cluster=embedded", "--plugin=" + mine, "--piped-config=" + ownPath}, ""},
		"what auto chose": {[]string{"--cluster=auto", "--live", "--", "."}, nil, []string{repo},
			[]string{"--cluster=auto", "--live"}, starts + "--live"},
		"another repository": {own, nil, []string{other}, []string{"--cluster=auto"},
			"watched " + repo + "; " + apart + "--plugin=" + mine + " --piped-config=" + ownPath},
		"a consent to a context": {[]string{"--cluster=existing", "--context=dev", "--yes", "--", "."}, nil,
			[]string{repo}, []string{"--cluster=existing", "--context=dev", "--yes"}, starts},
		"a consent to the context that was current": {[]string{"--cluster=existing", "--yes", "--", "."}, nil,
			[]string{repo}, []string{"--cluster=existing"}, starts + "--cluster=existing"},
		"samples": {[]string{"--sample=hello-world", "--local-pods=false", "--"}, []string{"--sample=hello-world"}, nil,
			[]string{"--cluster=auto", "--local-pods=false", "--sample=hello-world"}, starts + "--local-pods=false"},
		"a flag that no program knows": {[]string{"--nope", "--"}, nil, []string{repo}, []string{"--cluster=auto"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := workspace.At(t.TempDir(), "demo")
			require.NoError(t, err)
			require.NoError(t, w.Create())
			require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: "127.0.0.1:1",
				Restart: &workspace.Restart{Directory: repo, Arguments: c.before}}))
			require.NoError(t, w.Withdraw())
			flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
			flags.Register(cmd)
			flags.registerLive(cmd)
			require.NoError(t, cmd.ParseFlags(c.flags))
			note, err := takeLastRun(flags, w, c.args)
			require.NoError(t, err)
			require.Equal(t, c.want, flags.arguments())
			if c.note == "" {
				require.Empty(t, note)
			}
			require.Contains(t, note, c.note)
		})
	}
}

func TestTheFirstStartOfAnEnvironmentHasNoFlagsButThoseOfTheUser(t *testing.T) {
	t.Parallel()
	w, err := workspace.At(t.TempDir(), "demo")
	require.NoError(t, err)
	flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
	flags.Register(cmd)
	note, err := takeLastRun(flags, w, nil)
	require.NoError(t, err)
	require.Empty(t, note)
	require.Equal(t, []string{"--cluster=auto"}, flags.arguments())
}
