// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// givenFlags parses flags as up does.
func givenFlags(t *testing.T, arguments ...string) *Flags {
	t.Helper()
	flags, command := &Flags{}, &cobra.Command{}
	flags.Register(command)
	require.NoError(t, command.ParseFlags(arguments))
	return flags
}

func TestAnImageIsMappedToAProgram(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "shop")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700))
	flags := givenFlags(t, "--cluster=embedded",
		"--local-image=registry.example/shop:v2="+program+",port,may-run=/bin/sh,may-run=/bin/cat",
		"--local-image=tool="+program+",may-run=*")
	images, err := flags.mapped()
	require.NoError(t, err)
	require.Len(t, images, 2)
	require.Equal(t, "registry.example/shop:v2", images[0].Image)
	require.Equal(t, program, images[0].Path)
	require.Len(t, images[0].SHA256, 64)
	require.True(t, images[0].HonoursPort)
	require.Equal(t, []string{"/bin/sh", "/bin/cat"}, images[0].MayRun)
	require.False(t, images[1].HonoursPort)
	require.Equal(t, []string{"*"}, images[1].MayRun)

	again := givenFlags(t, flags.arguments()...)
	require.Equal(t, flags.arguments(), again.arguments(), "the host gets the same")
	require.Equal(t, "shop=/dir/bin/shop,port", absoluteLocalImage("/dir", "shop=bin/shop,port"))
}

func TestAMappingThatCannotWorkIsRefusedBeforeAnythingIsStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, nil, 0o600))
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, nil, 0o700))
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, nil, 0o700))
	for name, c := range map[string]struct {
		arguments []string
		want      string
	}{
		"no program":                {[]string{"--local-image=shop"}, "want IMAGE=PROGRAM"},
		"an empty program":          {[]string{"--local-image=shop="}, "it names no program"},
		"no reference":              {[]string{"--local-image=A B=" + program}, "the image"},
		"a program that is gone":    {[]string{"--local-image=shop=" + filepath.Join(dir, "gone")}, "no such file"},
		"a file that is no program": {[]string{"--local-image=shop=" + text}, "is not an executable file"},
		"a directory":               {[]string{"--local-image=shop=" + dir}, "is not an executable file"},
		"an unknown option":         {[]string{"--local-image=shop=" + program + ",root"}, "unknown option"},
		"a relative program": {[]string{"--local-image=shop=" + program + ",may-run=sh"},
			"want an absolute path"},
		"a program of an image that is built": {[]string{"--local-image=pipedeck.dev/web=" + program},
			"pipedeck builds the program of images of pipedeck.dev; leave it out"},
		"two programs of an image": {[]string{"--local-image=shop=" + program,
			"--local-image=docker.io/library/shop=" + other}, "is given twice"},
		"two sets of options of an image": {[]string{"--local-image=shop:v1=" + program,
			"--local-image=shop:v1=" + program + ",port"}, "is given twice"},
		"another kind of cluster": {[]string{"--local-image=shop=" + program, "--cluster=kind"}, "embedded cluster"},
		"a contradiction": {[]string{"--local-image=shop=" + program, "--local-pods=false"},
			"contradict each other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := givenFlags(t, c.arguments...).parse()
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestAnImageThatIsBuiltMayRunOtherPrograms(t *testing.T) {
	t.Parallel()
	flags := givenFlags(t, "--cluster=embedded", "--local-image=pipedeck.dev/web=,may-run=/bin/sh",
		"--local-image=pipedeck.dev/web=,may-run=/bin/sh")
	images, err := flags.mapped()
	require.NoError(t, err)
	require.True(t, images[0].IsBuilt())
	require.Equal(t, []string{"/bin/sh"}, images[0].MayRun)
	const given = "pipedeck.dev/web=,may-run=/bin/sh"
	require.Equal(t, given, absoluteLocalImage("/dir", given))
}

func TestProgramsAreBuiltForThisMachineOnlyWhereTheyMayRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arguments []string
		want      bool
	}{
		{nil, true}, {[]string{"--cluster=embedded"}, true},
		{[]string{"--cluster=a=kind", "--cluster=b=embedded"}, true},
		{[]string{"--cluster=kind"}, false}, {[]string{"--local-pods=false"}, false},
		{[]string{"--cluster=none"}, false},
	} {
		local, err := givenFlags(t, c.arguments...).runsLocally()
		require.NoError(t, err)
		require.Equal(t, c.want, local, "%q", c.arguments)
	}
	require.Contains(t, givenFlags(t, "--local-pods=false").arguments(), "--local-pods=false")
}
