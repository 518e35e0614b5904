// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestThePageFollowsWhatHappens(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	s.deck.LogAt("deploy-eu", 40, "4 of 4 pods ready")
	b.shows("#lines", "4 of 4 pods ready")

	s.deck.Publish(decktest.CheckoutFailed())
	b.shows("#status", "Rolling back")
	b.waits("document.querySelector('.node.failed[aria-selected=true]').dataset.stage === 'deploy-us'")
	b.shows("#announcer", "deploy-us failed")

	// A newer deployment takes the screen.
	next := decktest.Named()
	next.Id, next.ApplicationId, next.ApplicationName, next.CreatedAt = "dep-m", "mail", "mail", decktest.At(41)
	s.deck.Publish(next)
	b.shows("#deployment-title", "mail")
	b.waits("document.querySelectorAll('.node').length === 5")
	b.clean(s)
}

func TestASelectionStaysUntilTheUserFollowsAgain(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	require.Empty(t, js[string](b, "location.hash"), "the token is not in the address any more")
	js[any](b, "document.querySelector('[data-id=payments]').click(), null")
	b.shows("#deployment-title", "payments")
	b.waits("location.hash === '#app=payments&stage=s3'")
	b.waits("document.title === '◆ payments: waits · pipedeck default'")
	require.Equal(t, "false", js[string](b, "document.querySelector('#follow').ariaPressed"))

	next := decktest.Named()
	next.Id, next.ApplicationId, next.ApplicationName, next.CreatedAt = "dep-m", "mail", "mail", decktest.At(41)
	s.deck.Publish(next)
	b.waits("document.querySelector('[data-id=mail] .words').innerText.startsWith('waits')")
	b.shows("#deployment-title", "payments")

	b.do(chromedp.Reload())
	b.shows("#deployment-title", "payments")
	b.press("f")
	b.shows("#deployment-title", "mail")
	b.waits("location.hash === ''")
}

func TestKeysReachEverything(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	active := "document.querySelector('#applications-list').getAttribute('aria-activedescendant')"
	named := "document.getElementById(" + active + ").dataset.id"
	b.press("1")
	b.waits("document.activeElement.id === 'applications-list'")
	b.press("g")
	b.waits(named + " === 'search'")
	b.press("j")
	b.press(kb.ArrowDown)
	b.press("k")
	b.waits(named + " === 'payments'")
	b.press(kb.Enter)
	b.shows("#deployment-title", "payments")

	b.press("/")
	b.waits("document.activeElement.id === 'filter'")
	b.types("che")
	b.shows("#applications-count", "1 of 6")
	b.press(kb.Escape)
	b.shows("#applications-count", "6")
	b.types("check")
	b.press(kb.ArrowDown)
	b.press(kb.Enter)
	b.shows("#deployment-title", "checkout")
	b.ready()

	b.press("2")
	b.waits("document.activeElement.matches('#graph svg')")
	selected := "document.querySelector('.node[aria-selected=true]').dataset.stage"
	b.press("g")
	b.waits(selected + " === 'build'")
	for _, step := range []struct{ key, stage string }{{kb.ArrowRight, "lint"}, {kb.ArrowUp, "unit"}, {"j", "lint"},
		{"l", "approve"}, {"h", "lint"}, {"l", "approve"}, {"l", "deploy-eu"}, {kb.ArrowDown, "deploy-us"},
		{"G", "verify"}} {
		b.press(step.key)
		b.waits(selected + " === '" + step.stage + "'")
	}
	b.press("h")
	b.waits(selected + ".startsWith('deploy-')")
	b.press(kb.Enter)
	b.waits("document.activeElement.id === 'lines'")

	b.press("?")
	b.waits("document.querySelector('#help').open")
	b.shows("#help", "along an edge")
	b.press(kb.Escape)
	b.waits("!document.querySelector('#help').open")
	for key, view := range map[string]string{"3": "log", "4": "stage", "5": "plugins", "6": "environment",
		"t": "history"} {
		b.press(key)
		b.waits("document.body.dataset.view === '" + view + "'")
	}
	b.clean(s)
}

// Tab goes through the page in the order in which it is read.
func TestTheOrderOfTheTabKeyIsThatOfThePage(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	var order []string
	for range 14 {
		b.press(kb.Tab)
		order = append(order, js[string](b, `(e => e.id || e.dataset.show || e.getAttribute('role') ||
			e.localName)(document.activeElement)`))
		require.NotEqual(t, "none", js[string](b, "getComputedStyle(document.activeElement).outlineStyle")+
			js[string](b, "document.activeElement.matches('#graph svg') ? 'frame' : ''"), "focus is seen on %v", order)
	}
	require.Equal(t, []string{"follow", "keys", "filter", "applications-list", "listbox", "log", "stage", "plugins",
		"environment", "history", "find", "wrap", "tail", "lines"}, order)
}

func TestTheLogIsSearched(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	b.press("3")
	b.press("/")
	b.waits("document.activeElement.id === 'find'")
	b.types("pods")
	b.shows("#hits", "3 of 3 hits")
	b.press(kb.Enter)
	b.shows("#hits", "1 of 3 hits")
	require.Equal(t, 3, js[int](b, "document.querySelectorAll('mark').length"))
	require.Contains(t, js[string](b, "document.querySelector('.line.current').innerText"), "Waiting for 4 pods")
	b.press(kb.Escape)
	b.waits("document.querySelectorAll('mark').length === 0")
	b.types("nonsense")
	b.shows("#hits", "no hit in 7 lines")
}

// A removed deployment is said to be gone.
func TestADeploymentThatIsNotKnownSaysSo(t *testing.T) {
	s := shop(t)
	b := open(t, laptop, s.url())
	b.ready()
	js[any](b, "location.hash = '#app=mail&deployment=gone', null")
	b.shows("#deployment-empty", "This deployment is not known any more")
	js[any](b, "location.hash = '#app=mail', null")
	b.shows("#deployment-empty", "Not deployed yet")
	s.deck.Publish(&deckv1.Removed{ApplicationId: "mail"})
	b.waits("document.querySelectorAll('.application').length === 5")
}
