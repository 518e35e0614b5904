// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// fleet is an environment with as many applications, of which the first is being deployed in as many stages.
func fleet(applications, stages int) []proto.Message {
	all := []proto.Message{decktest.Environment()}
	for i := range applications {
		a := decktest.Synced()
		a.Id, a.Name = fmt.Sprintf("app-%d", i), fmt.Sprintf("service-%d", i)
		all = append(all, a)
	}
	return append(all, pipeline(stages))
}

// pipeline is a deployment of app-0: four stages side by side in each layer, each needs the one before it and the
// first of its layer's neighbours.
func pipeline(stages int) *deckv1.Deployment {
	d := decktest.Checkout()
	d.ApplicationId, d.ApplicationName, d.Stages = "app-0", "service-0", nil
	for i := range stages {
		s := &deckv1.Stage{Id: fmt.Sprintf("s%d", i), ConfigId: fmt.Sprintf("stage-%d", i), Name: "SCRIPT_RUN",
			Index: int32(i), Status: deckv1.StageStatus_STAGE_STATUS_NOT_STARTED}
		if i >= 4 {
			s.Requires = append(s.Requires, fmt.Sprintf("s%d", i-4))
			if i%4 == 1 {
				s.Requires = append(s.Requires, fmt.Sprintf("s%d", i-5))
			}
		}
		if i == 0 {
			s.Status, s.StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, decktest.At(2)
		}
		d.Stages = append(d.Stages, s)
	}
	return d
}

func TestAThousandApplicationsAndAHundredStages(t *testing.T) {
	s := serve(t, fleet(1000, 100)...)
	b := open(t, laptop, s.url())
	b.waits("document.querySelectorAll('.node').length === 100")
	b.shows("#applications-count", "1000")
	require.Less(t, js[int](b, "document.querySelectorAll('.application').length"), 60, "only rows in view are drawn")
	js[any](b, "document.querySelector('#applications-list').scrollTop = 1e6, null")
	b.waits("[...document.querySelectorAll('.application')].at(-1).dataset.id === 'app-999'")
	require.Equal(t, "1000", js[string](b,
		"[...document.querySelectorAll('.application')].at(-1).getAttribute('aria-setsize')"))
	b.press("/")
	b.types("service-77")
	b.shows("#applications-count", "11 of 1000")
	d := pipeline(100)
	d.Stages[0].Status, d.Stages[0].CompletedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, decktest.At(9)
	d.Stages[4].Status, d.Stages[4].StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, decktest.At(9)
	s.deck.Publish(d)
	b.waits("document.querySelector('.node.running').dataset.stage === 's4'")
	b.clean(s)
}

func TestALongLogIsReadFromItsEndAndItsBeginning(t *testing.T) {
	const lines = 100_000
	s := shop(t)
	s.deck.Log("deploy-us", deckv1.Severity_SEVERITY_INFO, numbered(lines)...)
	b := open(t, laptop, s.url())
	b.ready()
	b.picks("deploy-us")
	b.shows("#lines", "line 99999 ")
	b.shows("#log-count", "100,000 lines")
	require.Less(t, js[int](b, "document.querySelectorAll('.line').length"), 100, "only lines in view are drawn")

	// Up to the beginning, as fast as the lines before come.
	b.waits(`(() => { document.querySelector('#lines').scrollTop = 0;
		return document.querySelector('.line')?.dataset.line === '0'; })()`)
	b.shows("#lines", "line 0 ")
	require.Equal(t, "100,000 lines", js[string](b, "document.querySelector('#log-count').innerText"))

	// The order of lines in the document is that of the log, wherever the reader is.
	js[any](b, "document.querySelector('#lines').scrollTop = document.querySelector('#lines').scrollHeight / 2, null")
	b.waits("Number(document.querySelector('.line').dataset.line) > 40000")
	require.True(t, js[bool](b, `[...document.querySelectorAll('.line')].every((line, i, all) =>
		i === 0 || Number(line.dataset.line) === Number(all[i - 1].dataset.line) + 1)`))

	js[any](b, "document.querySelector('#tail').click(), null")
	s.deck.Log("deploy-us", deckv1.Severity_SEVERITY_INFO, "the newest")
	b.shows("#lines", "the newest")
	js[any](b, "document.querySelector('#find').focus(), null")
	b.types("line 12345 ")
	b.shows("#hits", "1 of 1 hit")
	b.shows(".line.current", "line 12345 ")
	b.clean(s)
}

func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of a long log", i)
	}
	return lines
}

// Lines that are wrapped, wide or empty have the room that they need: none covers another.
func TestLinesDoNotOverlap(t *testing.T) {
	s := shop(t)
	long := ""
	for range 60 {
		long += "word and more "
	}
	wide := "日本語のログ行、とても長い行です。" + long
	s.deck.Log("deploy-eu", deckv1.Severity_SEVERITY_INFO, long, "", wide, "🎉 done", long)
	for _, width := range []int64{390, 1280} {
		b := open(t, look{width: width, height: 844, scheme: "light", mobile: width < 500}, s.url())
		b.waits("[...document.querySelectorAll('.line')].at(-1)?.innerText.includes('word and more')")
		js[any](b, "document.querySelector('#lines').scrollTop -= 500, null")
		b.waits("[...document.querySelectorAll('.line')].some(line => line.innerText.includes('日本語'))")
		require.Empty(t, js[[]string](b, `[...document.querySelectorAll('.line')].filter(line =>
			line.querySelector('.text').scrollHeight > line.clientHeight + 1).map(line => line.dataset.line + ' ' +
			line.querySelector('.text').scrollHeight + ' > ' + line.clientHeight)`), "at %d px", width)
		require.True(t, js[bool](b, `[...document.querySelectorAll('.line')].every((line, i, all) => i === 0 ||
			line.getBoundingClientRect().top >= all[i - 1].getBoundingClientRect().bottom - 1)`))
	}
}
