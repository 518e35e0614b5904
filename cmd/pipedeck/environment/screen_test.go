// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// lookOf returns how the UI looks with these flags.
func lookOf(t *testing.T, args ...string) (theme.Options, error) {
	t.Helper()
	cmd, flags := &cobra.Command{}, &screenFlags{}
	flags.register(cmd)
	require.NoError(t, cmd.ParseFlags(args))
	var environ []string
	if err := flags.read(&environ); err != nil {
		return theme.Options{}, err
	}
	return theme.FromEnvironment(environ)
}

func TestFlagsOfTheScreenOverrideTheEnvironment(t *testing.T) {
	for _, name := range []string{"TERM", "NO_COLOR", "COLORFGBG"} {
		t.Setenv(name, "")
	}
	t.Setenv("PIPEDECK_THEME", "light")
	t.Setenv("PIPEDECK_ASCII", "1")
	light, err := theme.Choose("light")
	require.NoError(t, err)
	dark, err := theme.Choose("dark")
	require.NoError(t, err)

	look, err := lookOf(t)
	require.NoError(t, err)
	require.Equal(t, theme.Options{Choice: light, ASCII: true}, look)

	look, err = lookOf(t, "--theme", "dark", "--ascii=false", "--reduced-motion", "--big")
	require.NoError(t, err)
	require.Equal(t, theme.Options{Choice: dark, ReducedMotion: true, Big: true}, look)
	t.Setenv("PIPEDECK_BIG", "1")
	look, err = lookOf(t)
	require.NoError(t, err)
	require.True(t, look.Big)

	_, err = lookOf(t, "--theme", "drak")
	require.ErrorContains(t, err, `unknown theme "drak"; themes are auto, dark`)
	t.Setenv("PIPEDECK_THEME", "drak")
	_, err = lookOf(t)
	require.ErrorContains(t, err, `unknown theme "drak"`)
}

func TestTheOutputComesFromTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		variable, flag string
		want           OutputMode
	}{
		{"", "auto", outputPlain}, // a test has no terminal
		{"reader", "auto", outputReader},
		{"reader", "json", outputJSON},
		{"tui", "auto", outputPlain},
	} {
		t.Setenv("PIPEDECK_OUTPUT", c.variable)
		mode, err := ChooseOutput(c.flag, true)
		require.NoError(t, err)
		require.Equal(t, c.want, mode, "%+v", c)
	}
	t.Setenv("PIPEDECK_OUTPUT", "speech")
	_, err := ChooseOutput("auto", true)
	require.ErrorContains(t, err, `PIPEDECK_OUTPUT "speech" is unknown`)
}

func TestACommandOffersTheOutputsThatItHas(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"foo": "use plain, reader or json",
		"tui": "use plain, reader or json",
	} {
		_, err := ChooseOutput(given, false)
		var failure *exit.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, want, failure.Hint)
	}
}
