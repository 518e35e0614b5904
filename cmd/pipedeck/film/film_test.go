// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package film

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

// tour is a recorded session with a canary that is approved.
func tour(t testing.TB) *sessionfile.Session {
	t.Helper()
	return recorded(t, "format-1")
}

// recorded is a session that a program of an earlier version has recorded.
func recorded(t testing.TB, name string) *sessionfile.Session {
	t.Helper()
	f, err := os.Open("../../../devenv/sessionfile/testdata/" + name + ".pipedeck")
	require.NoError(t, err)
	defer f.Close()
	session, err := sessionfile.Read(f, 0)
	require.NoError(t, err)
	return session
}

// options are those of a terminal in which no request is asked.
func options() Options {
	return Options{Name: "demo", Version: "v0.1.0", Columns: 110, Rows: 30, Speed: 1, Until: -1,
		Deck: deckv1.NewDeckServiceClient(nil)}
}

// moment is one line of a recording.
type moment struct {
	at     float64
	screen string
}

// parse reads an asciicast and plays it on an emulated terminal.
func parse(t testing.TB, cast []byte) (header map[string]any, moments []moment) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(cast))
	lines.Buffer(nil, 1<<20)
	require.True(t, lines.Scan())
	require.NoError(t, json.Unmarshal(lines.Bytes(), &header))
	columns, rows := int(header["width"].(float64)), int(header["height"].(float64))
	terminal := vt10x.New(vt10x.WithSize(columns, rows))
	for lines.Scan() {
		var event [3]any
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		require.Equal(t, "o", event[1])
		_, err := terminal.Write([]byte(event[2].(string)))
		require.NoError(t, err)
		moments = append(moments, moment{event[0].(float64), terminal.String()})
	}
	require.NoError(t, lines.Err())
	return header, moments
}

func castOf(t testing.TB, o Options) []byte {
	t.Helper()
	var cast bytes.Buffer
	require.NoError(t, Cast(t.Context(), player.NewReel(tour(t)), o, &cast))
	return cast.Bytes()
}

func TestARecordingOfTheTerminalShowsTheSession(t *testing.T) {
	t.Parallel()
	cast := castOf(t, options())
	require.Equal(t, cast, castOf(t, options()), "always the same bytes")
	header, moments := parse(t, cast)
	require.EqualValues(t, 2, header["version"])
	session := tour(t)
	length := (session.Duration() - player.NewReel(session).Begin()).Seconds()
	require.InDelta(t, length, moments[len(moments)-1].at, 0.01)

	at := 0
	for _, words := range []string{`[Ss]tarting`, `✓ hello-world .*(?s:.*)✓ SUCCESS`, `RUNNING .*Greet the audience`,
		`wait +Until `, `waits for approval|WAIT_APPROVAL`, `✓ SUCCESS .*Greet the audience`} {
		wanted := regexp.MustCompile(words)
		for at < len(moments) && !wanted.MatchString(moments[at].screen) {
			at++
		}
		require.Less(t, at, len(moments), "never on screen in this order: %s", words)
	}
	for i := 1; i < len(moments); i++ {
		require.GreaterOrEqual(t, moments[i].at, moments[i-1].at)
	}
}

func TestSpeedAndIdleLimitShortenARecording(t *testing.T) {
	t.Parallel()
	_, moments := parse(t, castOf(t, options()))
	whole := moments[len(moments)-1].at
	o := options()
	o.Speed = 4
	_, moments = parse(t, castOf(t, o))
	require.InDelta(t, whole/4, moments[len(moments)-1].at, 0.05)
	o = options()
	o.Idle = 100 * time.Millisecond
	_, moments = parse(t, castOf(t, o))
	require.Less(t, moments[len(moments)-1].at, whole/2)
	for i := 1; i < len(moments); i++ {
		require.LessOrEqual(t, moments[i].at-moments[i-1].at, 0.101)
	}
}

// wordsOf are the words of a picture, which has to be valid XML without scripts and addresses of files.
func wordsOf(t testing.TB, svg string) string {
	t.Helper()
	require.NotContains(t, svg, "href")
	var words []string
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return strings.Join(words, " ")
		}
		require.NoError(t, err)
		if element, is := token.(xml.StartElement); is {
			require.Contains(t, []string{"svg", "g", "title", "rect", "path", "text"}, element.Name.Local)
		}
		if text, is := token.(xml.CharData); is {
			words = append(words, strings.TrimSpace(string(text)))
		}
	}
}

func TestAPictureShowsTheScreenAtATime(t *testing.T) {
	t.Parallel()
	o := options()
	end, err := Picture(t.Context(), player.NewReel(tour(t)), o)
	require.NoError(t, err)
	require.Regexp(t, `SUCCESS.*Greet the audience`, wordsOf(t, end))
	o.Until = 0
	begin, err := Picture(t.Context(), player.NewReel(tour(t)), o)
	require.NoError(t, err)
	require.NotContains(t, wordsOf(t, begin), "Greet the audience")
	o.Environ = []string{"COLORFGBG=0;15"}
	light, err := Picture(t.Context(), player.NewReel(tour(t)), o)
	require.NoError(t, err)
	require.Contains(t, light, `fill="#ffffff"`)
	require.NotContains(t, begin, `fill="#ffffff"`)
}

func TestARecordedStoryIsShownWithItsCaptionsAndWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	session := recorded(t, "format-1-captions")
	var cast bytes.Buffer
	require.NoError(t, Cast(t.Context(), player.NewReel(session), options(), &cast))
	_, moments := parse(t, cast.Bytes())
	at := 0
	for _, words := range []string{`> A Git repository(?s:.*)step 1 of 6(?s:.*)waits for hello-world SUCCESS`,
		`> The pods change(?s:.*)step 3 of 6`, `> The stage approve(?s:.*)step 4 of 6`,
		`Resources of hello-world(?s:.*)Pod hello-world(?s:.*)> The resources of the application(?s:.*)step 6 of 6`} {
		wanted := regexp.MustCompile(words)
		for at < len(moments) && !wanted.MatchString(moments[at].screen) {
			at++
		}
		require.Less(t, at, len(moments), "never on screen in this order: %s", words)
	}
	svg, err := Picture(t.Context(), player.NewReel(session), options())
	require.NoError(t, err)
	require.Regexp(t, `Pod +hello-world.*The resources of the application`, wordsOf(t, svg))
}

func TestForeignTextIsWordsOfThePicture(t *testing.T) {
	t.Parallel()
	const hostile = "</text><script>alert(1)</script> & \"\x1b]8;;http://x\x1b\\ 漢字 \x00"
	record := func(event *deckv1.Event) *deckv1.SessionRecord {
		return &deckv1.SessionRecord{At: durationpb.New(0), Kind: &deckv1.SessionRecord_Event{Event: event}}
	}
	session := &sessionfile.Session{Header: &deckv1.SessionHeader{BeganAt: timestamppb.New(time.Unix(1, 0))},
		Records: []*deckv1.SessionRecord{
			record(&deckv1.Event{Kind: &deckv1.Event_Application{
				Application: &deckv1.Application{Id: "a", Name: hostile}}}),
			record(&deckv1.Event{Kind: &deckv1.Event_Component{Component: &deckv1.Component{Name: "c",
				State: deckv1.Component_STATE_READY}}}),
			record(&deckv1.Event{Kind: &deckv1.Event_Synced{Synced: &deckv1.Synced{}}}),
		}}
	o := options()
	o.Name = hostile
	svg, err := Picture(t.Context(), player.NewReel(session), o)
	require.NoError(t, err)
	require.Contains(t, wordsOf(t, svg), "<script>alert(1)</script>")
	require.NotContains(t, svg, "<script")
}

func TestAPictureShowsThatTheEnvironmentWasKilled(t *testing.T) {
	t.Parallel()
	session, whole := tour(t), tour(t)
	at := session.Duration()
	session.Records = append(session.Records, &deckv1.SessionRecord{At: durationpb.New(at),
		Kind: &deckv1.SessionRecord_Event{Event: &deckv1.Event{
			Time: timestamppb.New(session.Header.GetBeganAt().AsTime().Add(at)), Kind: &deckv1.Event_Connection{
				Connection: &deckv1.Connection{Lost: "it was killed", Stopped: true}}}}})
	for _, c := range []struct {
		session *sessionfile.Session
		killed  bool
	}{{session, true}, {whole, false}} {
		svg, err := Picture(t.Context(), player.NewReel(c.session), options())
		require.NoError(t, err)
		words := strings.Join(strings.Fields(wordsOf(t, svg)), " ")
		require.Equal(t, c.killed, strings.Contains(words, "✗ stopped"))
		require.Equal(t, c.killed, strings.Contains(words, "its process was killed"))
	}
}

func TestAFilmEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Picture(ctx, player.NewReel(tour(t)), options())
	require.ErrorIs(t, err, context.Canceled)
}
