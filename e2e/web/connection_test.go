// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestThePageComesBackWhenTheServerDoes(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	s.unlisten()
	b.shows("#notice", "Reconnecting…")
	require.Contains(t, js[string](b, "document.querySelector('#notice').innerText"), "What you see is from ")
	b.waits("document.body.dataset.stale === ''")
	b.waits("document.title === '! reconnecting · pipedeck default'")
	b.shows("#lines", "3 of 4 pods ready") // it stays, without its colours
	took := js[string](b, "document.querySelector('#took').innerText")
	b.shows("#notice", "Attempt 4") // more than a second later
	require.Equal(t, took, js[string](b, "document.querySelector('#took').innerText"), "nothing is heard of it")

	s.deck.LogAt("deploy-eu", 41, "4 of 4 pods ready")
	s.deck.Publish(decktest.CheckoutFailed())
	s.again(s.listen(s.address))
	b.waits("document.querySelector('#notice').hidden && document.body.dataset.connection === 'live'")
	b.shows("#status", "Rolling back")
	b.waits("document.title === '↺ checkout: rolling back · pipedeck default'")
	b.picks("deploy-eu")
	b.shows("#lines", "4 of 4 pods ready")
	require.Equal(t, 8, js[int](b, "document.querySelectorAll('.line').length"), "no line is lost or shown twice")
}

// More happens while the page is away than the server keeps: it gets everything again, and nothing flickers.
func TestAPageThatMissedTooMuchBeginsAgainWithoutAFlicker(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	js[any](b, `(() => {
		const decode = TextDecoder.prototype.decode;
		TextDecoder.prototype.decode = function (...parts) {
			const text = decode.apply(this, parts);
			window.resets = (window.resets ?? 0) + text.split('event: reset').length - 1;
			return text;
		};
		window.least = Infinity;
		new MutationObserver(() => {
			window.least = Math.min(window.least, document.querySelectorAll('.node').length,
				document.querySelectorAll('.application').length, document.querySelectorAll('.line').length);
		}).observe(document.querySelector('#deck'), { subtree: true, childList: true, attributes: true });
		return null;
	})()`)
	s.unlisten()
	b.shows("#notice", "Reconnecting…")
	for step := range 600 {
		s.deck.Publish(&deckv1.Caption{Text: "On and on", Step: int32(step + 1), Steps: 600})
	}
	s.again(s.listen(s.address))
	b.shows("#step", "step 600 of 600")
	b.waits("document.querySelector('#notice').hidden && document.body.dataset.connection === 'live'")
	require.Equal(t, 1, js[int](b, "window.resets"))
	s.deck.LogAt("deploy-eu", 41, "4 of 4 pods ready")
	b.shows("#lines", "4 of 4 pods ready")
	require.GreaterOrEqual(t, js[float64](b, "window.least"), 6.0, "something was gone for a moment")
	b.clean(s)
}

func TestANewServerAsksForANewToken(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	s.unlisten()
	b.shows("#notice", "Reconnecting…")
	s.stop()
	s.start(s.address)
	b.shows("#over", "This session has ended")
	b.shows("#over", "Next step: open the address that pipedeck prints now")
	again := open(t, laptop, s.url())
	again.ready()
}

func TestTheEndIsSaid(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	s.end()
	b.shows("#notice", "This page is not served any more: the command that serves this page has ended.")
	b.shows("#connection", "ended")
	b.shows("#lines", "3 of 4 pods ready")
}

// The server of a page answers for a while after the environment has ended; then it is gone without a word. A page that
// asked again in between would begin again, and never learn of the end.
func TestAPageAsksForNothingAfterTheEnd(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	s.gone.Store(true)
	s.deck.End()
	b.shows("#notice", "The environment has ended. What you see is from ")
	b.waits("document.title === '! ended · pipedeck default'")
	asked := s.streams.Load()
	js[any](b, "(window.ended = performance.now(), null)")
	b.waits("performance.now() - window.ended > 1000") // three attempts later, if there were any
	require.Equal(t, asked, s.streams.Load())
	s.unlisten()
	js[any](b, "fetch('session').catch(() => null)")
	b.shows("#notice", "The environment has ended.")
	b.clean(s)
}

// The last words are lost where a stream is opened again in the moment of the end.
func TestAnEnvironmentThatWasStoppingHasEnded(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	agent := decktest.Component(0, "piped", "")
	agent.State = deckv1.Component_STATE_STOPPED
	s.deck.Publish(agent)
	b.shows("#attention", "stopping")
	s.unlisten()
	b.shows("#notice", "The environment has ended. What you see is from ")
}

// A recorded session mostly ends with its environment; the program that plays it goes on.
func TestTheEndOfARecordedSessionIsNoEndOfThePage(t *testing.T) {
	agent := decktest.Component(0, "piped", "")
	agent.State = deckv1.Component_STATE_STOPPED
	s := serveFilm(t, tape{at: 160}, append(decktest.Shop(), agent)...)
	b := open(t, laptop, s.url())
	b.shows("#attention", "stopping")
	b.shows("#played", "2:40 of 2:40")
	s.unlisten()
	b.shows("#notice", "Attempt 3")
	s.again(s.listen(s.address))
	b.waits("document.querySelector('#notice').hidden && document.body.dataset.connection === 'replay'")
	s.end()
	b.shows("#notice", "This page is not served any more: the command that serves this page has ended.")
	b.clean(s)
}

// The server of the page is there, but the environment behind it is not.
func TestAnEnvironmentThatIsAwayIsSaid(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	s.deck.End()
	b.waits("['away', 'ended'].includes(document.body.dataset.connection)")
	b.waits("!document.querySelector('#notice').hidden")
	b.shows("#notice", "What you see is from ")
}

func TestNothingGoesOnWhileTheEnvironmentIsAway(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	b.picks("deploy-eu")
	b.shows("#attention", "parts ready")
	s.away.Store(true)
	s.deck.Break()
	b.waits("document.body.dataset.connection === 'away'")
	b.shows("#attention", "health unknown")
	require.NotContains(t, js[string](b, "document.querySelector('#attention').innerText"), "parts ready")
	b.shows("#lines", "3 of 4 pods ready")
	const times = "['took', 'stage-took'].map(id => document.getElementById(id)?.innerText).join(' ') + " +
		"[...document.querySelectorAll('.node')].map(node => node.textContent).join(' ')"
	frozen := js[string](b, times)
	js[any](b, "(window.away = performance.now(), null)")
	b.waits("performance.now() - window.away > 2500")
	require.Equal(t, frozen, js[string](b, times))
	s.away.Store(false)
	b.shows("#attention", "parts ready")
}

func TestWithoutTheTokenNothingIsShown(t *testing.T) {
	s := shop(t)
	for _, address := range []string{"/", "/#token=wrong", "/#token="} {
		b := open(t, laptop, "http://"+s.address+address)
		b.shows("body", "Next step: ")
		require.NotContains(t, js[string](b, "document.documentElement.outerHTML"), "checkout")
		require.Equal(t, 401, js[int](b, "fetch('app.js').then(answer => answer.status)"))
		require.Equal(t, 401, js[int](b, "fetch('events').then(answer => answer.status)"))
		require.NotContains(t, js[string](b, "location.href"), "token")
	}
}

func TestTheRightTokenLeavesNoTrace(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	require.NotContains(t, js[string](b, "location.href + document.cookie + JSON.stringify({ ...localStorage, "+
		"...sessionStorage }) + performance.getEntriesByType('resource').map(entry => entry.name)"), s.page.Token())
	b.clean(s)
}

func TestATokenStaysInTheAddressUntilItIsAnswered(t *testing.T) {
	s := shop(t)
	s.unlisten()
	away, busy := &atomic.Bool{}, &atomic.Bool{}
	away.Store(true)
	s.http = &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			switch asks := r.Method == http.MethodPost; {
			case asks && away.Load():
				panic(http.ErrAbortHandler)
			case asks && busy.Load():
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				s.page.ServeHTTP(w, r)
			}
		})}
	served, listener := s.http, s.listen("127.0.0.1:0")
	s.serving.Go(func() { _ = served.Serve(listener) }) // it ends by unlisten
	b := open(t, laptop, s.url())
	b.shows("p", "pipedeck does not answer")
	busy.Store(true)
	away.Store(false)
	b.do(chromedp.Reload())
	b.shows("p", "Too many wrong tokens are tried at present")
	busy.Store(false)
	b.do(chromedp.Reload())
	b.ready()
	require.NotContains(t, js[string](b, "location.href"), "token")
}
