// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/decktest"
)

// heard are the parts of the accessibility tree: "role name".
func heard(b *tab) (parts []string) {
	for _, node := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		name := ""
		if node.Name != nil {
			_ = json.Unmarshal(node.Name.Value, &name) // a name that is no text is none
		}
		role := ""
		_ = json.Unmarshal(node.Role.Value, &role)
		parts = append(parts, role+" "+name)
	}
	return parts
}

func TestAScreenReaderFindsEveryPart(t *testing.T) {
	s := shop(t)
	b := open(t, look{width: 1920, height: 1080, scheme: "light"}, s.url())
	b.ready()
	parts := heard(b)
	for _, part := range []string{
		"banner ", "main ", "navigation Applications", "region checkout", "region Log of deploy-eu",
		"region Stage deploy-eu", "region History", "region Plugins", "region Environment",
		"heading pipedeck default kind cluster", "heading Applications", "heading Log of deploy-eu",
		"heading Plugins", "listbox Applications", "option checkout, running 5/8, f437ddc",
		"listbox Stages of checkout", "option build, succeeded, 24s, needs nothing",
		"option approve, succeeded, Approved by: alice, bob, 21s, needs unit, lint, scan",
		"option deploy-eu, running, 3 of 4 pods ready, needs approve",
		"option verify, not started, needs deploy-eu, deploy-us", "log Log of deploy-eu",
		"searchbox Filter applications", "searchbox Find in the log", "button Follow", "button Keys", "status ",
	} {
		require.Contains(t, parts, part)
	}
	require.Equal(t, "off", js[string](b, "document.querySelector('#lines').getAttribute('aria-live')"))
	require.Equal(t, "polite", js[string](b, "document.querySelector('#announcer').getAttribute('aria-live')"))
	require.Empty(t, js[[]string](b, `[...document.querySelectorAll('button, input, [tabindex]')].filter(part =>
		!part.ariaLabel && !part.getAttribute('aria-labelledby') && !part.innerText.trim())
		.map(part => part.outerHTML)`))
	require.Empty(t, js[[]string](b, `[...document.querySelectorAll('[id]')].map(part => part.id).filter(
		(id, i, all) => all.indexOf(id) !== i)`), "ids that stand twice")
}

// contrasts are the texts on the page that have less than 4.5:1 to what is behind them.
const contrasts = `(() => {
	const parse = text => (text.match(/[\d.]+/g) ?? []).map(Number);
	const rgb = text => parse(text).slice(0, 3).map(part => text.startsWith('color(') ? part * 255 : part);
	const alpha = text => { const parts = parse(text); return parts.length > 3 ? parts[3] : 1; };
	const light = color => color.map(part => part / 255)
		.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
		.reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = element => {
		if (element.closest('.node')) return rgb(getComputedStyle(element.closest('.node').querySelector('rect')).fill);
		for (let e = element; e; e = e.parentElement) {
			const color = getComputedStyle(e).backgroundColor;
			if (alpha(color) > 0.99) return rgb(color);
		}
		return rgb(getComputedStyle(document.body).backgroundColor);
	};
	const bad = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	let seen = 0;
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const element = node.parentElement;
		if (!node.data.trim() || !element.getClientRects().length) continue;
		if (element.closest('script, noscript, title, .unseen')) continue;
		const style = getComputedStyle(element);
		if (style.visibility === 'hidden') continue;
		const front = rgb(element.ownerSVGElement ? style.fill : style.color);
		const [a, b] = [light(front), light(behind(element))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		seen++;
		if (ratio < 4.5) bad.push(node.data.trim().slice(0, 30) + ': ' + ratio.toFixed(2));
	}
	return seen > 60 ? bad : ['only ' + seen + ' texts are seen'];
})()`

func TestEveryTextHasContrastInTheThemeOfTheReader(t *testing.T) {
	for background, l := range map[string]look{
		"rgb(255, 255, 255)": {width: 1920, height: 1080, scheme: "light"},
		"rgb(23, 25, 29)":    {width: 1920, height: 1080, scheme: "dark"},
		"rgb(0, 0, 0)":       {width: 1920, height: 1080, scheme: "dark", contrast: true},
	} {
		t.Run(background, func(t *testing.T) {
			s := shop(t)
			b := open(t, l, s.url())
			b.ready()
			require.Equal(t, background, js[string](b, "getComputedStyle(document.body).backgroundColor"))
			require.Empty(t, js[[]string](b, contrasts))
			s.deck.Publish(decktest.CheckoutFailed())
			b.waits("document.querySelectorAll('.node').length === 10")
			require.Empty(t, js[[]string](b, contrasts))
		})
	}
}

func TestNothingIsWiderThanAPhone(t *testing.T) {
	s := shop(t)
	s.deck.Publish(decktest.CheckoutFailed())
	b := open(t, look{width: 390, height: 844, scheme: "dark", mobile: true}, s.url())
	b.waits("document.querySelectorAll('.node').length === 10")
	for _, view := range []string{"log", "stage", "plugins", "environment", "history", "applications"} {
		js[any](b, "document.querySelector('[data-show="+view+"]').click(), null")
		b.waits("document.body.dataset.view === '" + view + "'")
		require.Equal(t, 390, js[int](b, "Math.max(innerWidth, document.documentElement.scrollWidth)"), view)
		selector := "#" + view
		require.True(t, js[bool](b, "document.querySelector('"+selector+"').getClientRects().length > 0"), view)
	}
	b.clean(s)
}
