// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// The pictures of the page are for eyes: PIPEDECK_SHOTS names the folder for them.
func TestPicturesForEyes(t *testing.T) {
	folder := os.Getenv("PIPEDECK_SHOTS")
	if folder == "" {
		t.Skip("PIPEDECK_SHOTS names no folder")
	}
	sizes := map[string]look{"phone": {width: 390, height: 844, mobile: true}, "laptop": {width: 1280, height: 800},
		"desk": {width: 1920, height: 1080}, "wall": {width: 3840, height: 2160}}
	failed, release, analysed := decktest.CheckoutFailed(), decktest.Release(), decktest.Named()
	analysed.ApplicationId, analysed.ApplicationName, analysed.Id = "payments", "payments", "dep-a"
	analysed.Stages[1].Name, analysed.Stages[2].CanApprove = "ANALYSIS", false
	release.ApplicationId, release.ApplicationName = "website", "website"
	for name, scene := range map[string]struct {
		more     proto.Message
		fragment string
		looks    []string
	}{
		"running": {nil, "", []string{"phone light", "phone dark", "laptop light", "laptop dark", "wall dark",
			"wall light"}},
		"failed": {failed, "", []string{"phone dark", "laptop light", "desk dark"}},
		"analysis": {analysed, "#app=payments&deployment=dep-a&stage=s2&view=stage",
			[]string{"phone light", "desk light"}},
		"list":    {nil, "#view=applications", []string{"phone light"}},
		"release": {release, "#app=website", []string{"laptop dark", "desk light"}},
	} {
		s := serve(t, decktest.Shop()...)
		if scene.more != nil {
			s.deck.Publish(scene.more)
		}
		for i, line := range decktest.Rollout() {
			s.deck.LogAt("deploy-eu", float64(20+2*i), line)
		}
		s.deck.Log("deploy-us", deckv1.Severity_SEVERITY_SUCCESS, "Service default/checkout: unchanged")
		s.deck.Log("deploy-us", deckv1.Severity_SEVERITY_ERROR, "panic: PAYMENT_TIMEOUT: invalid duration")
		s.deck.Run("s2", &deckv1.GetStageRunResponse{Metadata: map[string]string{"pipedeck/analysis-series": series}})
		for _, shown := range scene.looks {
			size, scheme, _ := strings.Cut(shown, " ")
			l := sizes[size]
			l.scheme = scheme
			b := open(t, l, s.url())
			b.waits("document.querySelectorAll('.node').length >= 5")
			if scene.fragment != "" {
				js[any](b, fmt.Sprintf("location.hash = %q, null", scene.fragment))
			}
			if name == "analysis" {
				s.deck.Publish(&deckv1.Caption{Text: "The canary is compared with what runs", Step: 3, Steps: 7,
					Awaits: "n continues"})
				b.shows("#stage-body", "latency")
			}
			js[any](b, "new Promise(done => setTimeout(done, 400, null))") // for the log; nothing is asserted
			shoot(b, folder, name+"-"+size+"-"+scheme)
		}
	}
}

const series = `[{"name":"error rate","query":"sum(rate(http_errors[1m])) / sum(rate(http_requests[1m]))","max":0.05,
"points":[{"low":0.008,"high":0.02,"value":0.012,"other":0.01,"verdict":"ok"},
{"low":0.01,"high":0.024,"value":0.015,"other":0.011,"verdict":"ok"},
{"low":0.012,"high":0.03,"value":0.021,"other":0.009,"verdict":"ok"},{"empty":true,"verdict":"ok"},
{"low":0.03,"high":0.064,"value":0.042,"other":0.012,"verdict":"ok"},
{"low":0.04,"high":0.081,"value":0.061,"other":0.01,"verdict":"bad"}]},
{"name":"latency","query":"histogram_quantile(0.99, rate(http_seconds_bucket[1m]))","max":0.3,"min":0.05,
"points":[{"low":0.1,"high":0.14,"value":0.12,"verdict":"ok"},{"low":0.1,"high":0.16,"value":0.13,"verdict":"ok"},
{"low":0.11,"high":0.15,"value":0.125,"verdict":"ok"}]}]`

func shoot(b *tab, folder, name string) {
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644))
}
