// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/logbuf"
)

// forget drops everything that is kept from one frame to the next.
func (m *model) forget() {
	m.restyle()
	m.chosen.placed.of = &deckv1.Deployment{}
	m.panes.log.named = nil
	m.Update(toastMsg{number: -1}) // which changes nothing
}

// change is one thing that happens to the state of an environment of three applications.
func change(random *rand.Rand) []proto.Message {
	app := decktest.Application()
	app.Id = fmt.Sprintf("app-%d", random.IntN(3))
	app.Name = fmt.Sprintf("%s-%d", app.GetId(), random.IntN(2))
	switch random.IntN(6) {
	case 0:
		app.Sync = deckv1.SyncStatus(random.IntN(5))
		app.Deploying = random.IntN(2) == 0
		return []proto.Message{app}
	case 1:
		return []proto.Message{&deckv1.Removed{ApplicationId: app.GetId()}}
	case 2:
		return []proto.Message{&deckv1.Reset{}, app, &deckv1.Synced{}}
	}
	d := randomPipeline(random, fmt.Sprintf("dep-%s-%d", app.GetId(), random.IntN(3)))
	d.ApplicationId, d.ApplicationName = app.GetId(), app.GetName()
	d.Status = deckv1.DeploymentStatus(1 + random.IntN(6))
	d.CreatedAt = decktest.At(float64(random.IntN(30)))
	return []proto.Message{app, d}
}

// What is kept from one frame to the next never shows: after any sequence of events, keys, sizes and passing time, the
// screen is that of a UI that keeps nothing.
func TestAScreenFromKeptPartsIsAFreshScreen(t *testing.T) {
	t.Parallel()
	keys := []string{"h", "j", "k", "l", "g", "G", "n", "v", "F", "f", "enter", "esc", "1", "2", "3", "4", "d", "i",
		"e", "z", "pgdown", "tab", "down", "up"}
	sizes := [][2]int{{40, 12}, {80, 24}, {100, 30}, {200, 60}}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 17))
			now := decktest.Now()
			m := still(t)
			m.host.clock.now = func() time.Time { return now }
			m.size(100, 30)
			m.see(append(decktest.Running(), change(random)...)...)
			var happened []string
			for range 40 {
				what := random.IntN(8)
				switch what {
				case 0:
					size := sizes[random.IntN(len(sizes))]
					m.size(size[0], size[1])
				case 1:
					now = now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
					m.Update(tickMsg{m.ticker.number})
				case 2:
					if m.panes.log.reader != nil {
						m.hear(logbuf.Info, fmt.Sprint("line ", random.IntN(100)))
					}
				case 3, 4:
					m.receive(change(random)...)
				default:
					key := keys[random.IntN(len(keys))]
					happened = append(happened, key)
					m.key(key)
				}
				happened = append(happened, fmt.Sprint(what))
				kept := m.View().Content
				m.forget()
				require.Equalf(t, m.View().Content, kept, "after %v", happened)
			}
		})
	}
}
