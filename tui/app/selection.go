// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/view"
)

// selection is what the user looks at. What was chosen by hand stays; the rest follows what happens.
type selection struct {
	app       string
	appPinned bool
	// pinnedDeployment is an earlier deployment chosen from the history; empty means the newest.
	pinnedDeployment string
	stageID          string
	stagePinned      bool
	// stageOf is the deployment that stageID belongs to.
	stageOf string

	pluginKey string // state.PluginKey
	// pluginUp and environmentUp are how far the reader has gone back in longer texts.
	pluginUp, environmentUp int
	// hit is the line that the last search found.
	hit int
	// historyAt is the selected row of the history.
	historyAt int
}

func (m *model) application() *deckv1.Application { return m.deck.Application(m.app) }

// deployment is the one on the screen; nil before the first.
func (m *model) deployment() *deckv1.Deployment {
	if d := m.deck.Deployment(m.pinnedDeployment); d != nil {
		return d
	}
	return m.deck.Newest(m.app)
}

func (m *model) stage() *deckv1.Stage {
	for _, stage := range m.deployment().GetStages() {
		if stage.GetId() == m.stageID {
			return stage
		}
	}
	return nil
}

func (m *model) plugin() *deckv1.Plugin { return m.deck.Plugin(m.pluginKey) }

// settle brings the selection in line with the state, and the log in line with the selection.
func (m *model) settle() tea.Cmd {
	m.settleApplication()
	m.settleStage()
	if plugins := m.deck.Plugins(); m.plugin() == nil && len(plugins) > 0 {
		m.pluginKey = state.PluginKey(plugins[0])
	}
	return tea.Batch(m.settleLog(), m.settleResources())
}

// settleApplication keeps the present one unless it is gone; by itself it goes where a deployment begins.
func (m *model) settleApplication() {
	apps := m.deck.Applications()
	if m.application() == nil {
		m.appPinned, m.pinnedDeployment, m.app = false, "", ""
		if len(apps) > 0 {
			m.app = apps[0].GetId()
		}
	}
	if m.appPinned || running(m.deck.Newest(m.app)) {
		return
	}
	var latest *deckv1.Deployment
	for _, app := range apps {
		if d := m.deck.Newest(app.GetId()); running(d) &&
			(latest == nil || d.GetCreatedAt().AsTime().After(latest.GetCreatedAt().AsTime())) {
			latest = d
		}
	}
	if latest != nil {
		m.app, m.pinnedDeployment = latest.GetApplicationId(), ""
	}
}

func running(d *deckv1.Deployment) bool { return d != nil && !state.Ended(d.GetStatus()) }

// settleStage selects what matters most: a stage that waits for approval, one that runs, one that
// failed, the last that ran, the first.
func (m *model) settleStage() {
	d := m.deployment()
	if d.GetId() != m.stageOf {
		m.stageOf, m.stagePinned, m.stageID = d.GetId(), false, ""
	}
	if m.stagePinned && m.stage() != nil {
		return
	}
	m.stagePinned = false
	best, rank := "", -1
	for _, stage := range view.StageOrder(d) {
		if r := importance(stage); r > rank || (r == rank && r == ranDone) {
			best, rank = stage.GetId(), r
		}
	}
	m.stageID = best
}

const ranDone = 1

func importance(stage *deckv1.Stage) int {
	switch {
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING && stage.GetCanApprove():
		return 4
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING:
		return 3
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE:
		return 2
	case state.StageEnded(stage.GetStatus()) && stage.GetStartedAt().IsValid():
		return ranDone
	}
	return 0
}

// settleLog opens the log of the selected stage when another one is open.
func (m *model) settleLog() tea.Cmd {
	d, stage := m.deployment(), m.stage()
	m.log.Stage, m.log.Waiting = stage.GetName(), ""
	started := stage.GetStatus() > deckv1.StageStatus_STAGE_STATUS_NOT_STARTED
	if stage == nil || !started || m.client == nil {
		if m.reader != nil {
			m.closeLog()
			m.log.Rewind()
		}
		if stage != nil {
			m.log.Waiting = "The stage has not started."
			if stage.GetRollback() {
				m.log.Waiting = "The stage runs only when the deployment fails."
			}
		}
		return nil
	}
	if r := m.reader; r != nil && r.deployment == d.GetId() && r.stage == stage.GetId() {
		again := m.log.Complete && r.attempt != stage.GetRetries()
		if !again {
			m.log.Waiting = "No line so far."
			if m.log.Complete {
				m.log.Waiting = "The stage wrote nothing."
			}
			return nil
		}
	}
	return m.openLog(d.GetId(), stage)
}

func (m *model) openLog(deployment string, stage *deckv1.Stage) tea.Cmd {
	m.closeLog()
	m.log.Rewind()
	reader := newStageLog(m.work.ctx, deployment, stage.GetId(), stage.GetRetries())
	m.reader, m.log.Buffer = reader, reader.buffer
	m.log.Waiting = "No line so far."
	client := m.client
	return m.work.do(func(context.Context) tea.Msg {
		if err := reader.run(client, m.send); err != nil {
			return actionMsg{err: err}
		}
		return nil
	})
}

// closeLog ends the reader, which closes its buffer.
func (m *model) closeLog() {
	if m.reader != nil {
		m.reader.cancel()
	}
	m.reader, m.log.Buffer, m.log.Complete, m.log.Truncated, m.log.Trouble = nil, nil, false, false, ""
}

// grow takes news of a log. One that cannot be read is tried again.
func (m *model) grow(msg logMsg) tea.Cmd {
	if msg.log != m.reader {
		return nil
	}
	m.log.Complete, m.log.Truncated = msg.complete, msg.truncated
	if msg.err == nil {
		return nil
	}
	m.log.Trouble = "cannot read the log: " + plain(msg.err)
	return m.work.do(func(ctx context.Context) tea.Msg {
		select {
		case <-m.clock.after(logRetry):
			return retryLogMsg{msg.log}
		case <-ctx.Done():
			return nil
		}
	})
}

// index is the position of the element with that key, at least 0.
func index[T any](list []T, is func(T) bool) int { return max(0, slices.IndexFunc(list, is)) }

// moved is the position n steps from at, within a list.
func moved(at, n, length int) int { return max(0, min(at+n, length-1)) }
