// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package asciicast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
)

func TestTheScreensOfARecordingAreThoseThatWereWritten(t *testing.T) {
	t.Parallel()
	screens := []string{"one\ntwo\n\x1b[1m<three> & \"four\"\x1b[0m", "one\n\n\x1b[31mred\x1b[0m         ",
		"uno\ndos\ntres"}
	write := func() []byte {
		var out bytes.Buffer
		w, err := NewWriter(&out, Header{Width: 20, Height: 3, Began: time.Unix(1_700_000_000, 0), Title: "a story"})
		require.NoError(t, err)
		for i, screen := range screens {
			require.NoError(t, w.Frame(time.Duration(i)*1500*time.Millisecond, screen))
			require.NoError(t, w.Frame(time.Duration(i)*1600*time.Millisecond, screen), "nothing has changed")
		}
		require.NoError(t, w.End(5*time.Second))
		return out.Bytes()
	}
	cast := write()
	require.Equal(t, cast, write(), "always the same bytes")

	lines := bufio.NewScanner(bytes.NewReader(cast))
	require.True(t, lines.Scan())
	require.JSONEq(t, `{"version":2,"width":20,"height":3,"timestamp":1700000000,"title":"a story",
		"env":{"TERM":"xterm-256color"}}`, lines.Text())
	terminal := vt10x.New(vt10x.WithSize(20, 3))
	var times []float64
	for i := 0; lines.Scan(); i++ {
		var moment []any
		require.NoError(t, json.Unmarshal(lines.Bytes(), &moment))
		require.Len(t, moment, 3)
		require.Equal(t, "o", moment[1])
		times = append(times, moment[0].(float64))
		_, err := terminal.Write([]byte(moment[2].(string)))
		require.NoError(t, err)
		if i < len(screens) {
			requireShown(t, screens[i], terminal.String())
		}
	}
	require.Equal(t, []float64{0, 1.5, 3, 5}, times)
	requireShown(t, screens[len(screens)-1], terminal.String())
}

// requireShown compares the words of a screen with those on a terminal.
func requireShown(t *testing.T, screen, shown string) {
	t.Helper()
	for _, style := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m"} {
		screen = strings.ReplaceAll(screen, style, "")
	}
	var got []string
	for line := range strings.SplitSeq(strings.TrimSuffix(shown, "\n"), "\n") {
		got = append(got, strings.TrimRight(line, " "))
	}
	var want []string
	for line := range strings.SplitSeq(screen, "\n") {
		want = append(want, strings.TrimRight(line, " "))
	}
	require.Equal(t, want, got)
}
