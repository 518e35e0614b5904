// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// watch notes the time, in milliseconds since 1970, of the first frame in which a condition holds.
const watch = `window.seen = {}; window.notes = (name, condition) => {
	const look = () => {
		if (!condition()) return requestAnimationFrame(look);
		// The frame that shows it ends before the next one begins.
		requestAnimationFrame(() => { window.seen[name] = performance.timeOrigin + performance.now(); });
	};
	look();
};
window.notes('drawn', () => document.querySelectorAll('.node').length === 100 &&
	document.querySelectorAll('.application').length > 5);`

// BenchmarkRender is from the address to a page that shows 1,000 applications and a graph of 100 stages.
func BenchmarkRender(b *testing.B) {
	s := serve(b, fleet(1000, 100)...)
	t := open(b, laptop, s.url())
	t.waits("document.querySelectorAll('.node').length === 100")
	call(t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
	var all []float64
	for b.Loop() {
		t.do(chromedp.Reload())
		t.waits("window.seen.drawn > 0")
		all = append(all, js[float64](t, "window.seen.drawn - performance.timeOrigin"))
	}
	report(b, all)
}

// BenchmarkUpdate is from an event of the deck API to the frame that shows it, on that page.
func BenchmarkUpdate(b *testing.B) {
	s := serve(b, fleet(1000, 100)...)
	t := open(b, laptop, s.url())
	t.waits("document.querySelectorAll('.node').length === 100")
	js[any](t, watch+" null")
	d := pipeline(100)
	var all []float64
	for i := 0; b.Loop(); i++ {
		stage := d.Stages[i%100]
		stage.Status, stage.StartedAt = deckv1.StageStatus_STAGE_STATUS_FAILURE, decktest.At(3)
		if i/100%2 == 1 {
			stage.Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
		}
		want := map[deckv1.StageStatus]string{deckv1.StageStatus_STAGE_STATUS_FAILURE: "failed",
			deckv1.StageStatus_STAGE_STATUS_SUCCESS: "done"}[stage.Status]
		js[any](t, fmt.Sprintf(`window.notes('s%d', () =>
			document.querySelector('[data-stage=s%d]').classList.contains('%s')), null`, i, i%100, want))
		began := time.Now()
		s.deck.Publish(d)
		t.waits(fmt.Sprintf("window.seen.s%d > 0", i))
		all = append(all, js[float64](t, fmt.Sprintf("window.seen.s%d", i))-float64(began.UnixMicro())/1000)
	}
	report(b, all)
}

// BenchmarkScroll is the longest frame of a scroll through a log of 100,000 lines, a page a frame.
func BenchmarkScroll(b *testing.B) {
	s := serve(b, decktest.Shop()...)
	s.deck.Log("deploy-eu", deckv1.Severity_SEVERITY_INFO, numbered(100_000)...)
	t := open(b, laptop, s.url())
	t.waits("document.querySelectorAll('.line').length > 5")
	t.waits(`(() => { document.querySelector('#lines').scrollTop = 0;
		return document.querySelector('.line')?.dataset.line === '0'; })()`)
	var all []float64
	for b.Loop() {
		all = append(all, js[float64](t, `new Promise(done => {
			const view = document.querySelector('#lines');
			view.scrollTop = 0;
			let [last, longest, frames] = [0, 0, 0];
			const step = now => {
				if (last && frames > 2) longest = Math.max(longest, now - last);
				last = now;
				view.scrollTop += view.clientHeight;
				if (++frames < 120) requestAnimationFrame(step); else done(longest);
			};
			requestAnimationFrame(step);
		})`))
	}
	report(b, all)
}

func report(b *testing.B, all []float64) {
	require.NotEmpty(b, all)
	slices.Sort(all)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(all[len(all)/2], "ms-median")
	b.ReportMetric(all[len(all)-1], "ms-worst")
}
