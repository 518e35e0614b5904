// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import "time"

// alarm rings once, at the time that was set last.
type alarm struct{ timer *time.Timer }

func newAlarm() alarm {
	timer := time.NewTimer(0)
	timer.Stop()
	return alarm{timer}
}

// set replaces the time; zero is never.
func (a alarm) set(at time.Time) {
	if at.IsZero() {
		a.timer.Stop()
		return
	}
	a.timer.Reset(time.Until(at))
}

// rings sends when the time has come.
func (a alarm) rings() <-chan time.Time { return a.timer.C }

func (a alarm) stop() { a.timer.Stop() }
