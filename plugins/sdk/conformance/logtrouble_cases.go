// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func logTroubleCases() []Case {
	return []Case{{
		ID: "log.slow", Capability: Log, run: slowPiped,
		Title: "a piped that is slow to take the log does not change how the stage ends",
		Why:   "a busy machine or network would make deployments fail",
		Next:  "give reports to piped a generous time, and do not fail the stage for a slow one",
	}, {
		ID: "log.refused", Capability: Log, run: refusedLog,
		Title: "log blocks that piped could not take at once are not lost in silence",
		Why:   "piped is away for a moment at each restart; users would miss lines of a stage that succeeded",
		Next:  "send a report again that ended with Unavailable",
	}, {
		ID: "log.stop", Capability: Log, run: logStop,
		Title: "SIGTERM while a stage writes its log ends the process, with the log as far as it came",
		Why:   "users do not see how far the stage was at a restart",
		Next:  "cancel the stages at SIGTERM, report their logs, and end",
	}, {
		ID: "log.pace", Capability: Log, run: pace,
		Title: "a stage that waits does not flood piped with questions",
		Why:   "piped and the control plane are busy with questions that get the same answer",
		Next:  "ask for commands every 5 s",
	}}
}

func isLog(method string) bool { return strings.HasPrefix(method, "ReportStageLogs") }

func slowPiped(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	var slowed atomic.Int64
	x, err := p.start(setup{fail: func(c call) error {
		if isLog(c.method) && slowed.Add(1) == 1 {
			time.Sleep(1500 * time.Millisecond)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	e, err := x.execute(p, order{})
	switch {
	case err != nil:
		return err
	case slowed.Load() == 0:
		return skip("the stage writes no log")
	case e.cut:
		return fmt.Errorf("with a slow piped it was still at work after %s", p.suite.options.RunLimit)
	case e.kind() != first.kind():
		return fmt.Errorf("with a slow piped the stage ended in %s, and in %s otherwise: %s", e.kind(), first.kind(),
			e.how())
	}
	p.saw("%s", e.how())
	return e.problem()
}

func refusedLog(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	var refused, checkpoints atomic.Int64
	x, err := p.start(setup{fail: func(c call) error {
		checkpoint := c.method == "ReportStageLogsFromLastCheckpoint" && checkpoints.Add(1) <= 2
		if isLog(c.method) && (refused.Add(1) <= 2 || checkpoint) {
			return status.Error(codes.Unavailable, "piped starts again")
		}
		return nil
	}})
	if err != nil {
		return err
	}
	// Reports are made again after a time, of 5 s in PipeCD's SDK.
	limit := p.suite.options.RunLimit + p.suite.bounds.Grace
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	e, err := x.execute(p, order{context: ctx})
	switch {
	case err != nil:
		return err
	case refused.Load() == 0:
		return skip("the stage writes no log")
	case x.gone(e.err) != nil:
		return x.gone(e.err)
	case e.cut:
		return fmt.Errorf("after piped refused some reports it was still at work after %s", limit)
	case (e.failed() || e.err != nil) && !first.failed():
		return note("the stage ended in %s because piped could not take its log for a moment", e.kind())
	}
	all, want := len(x.piped.Blocks(e.id, false)), len(first.session.piped.Blocks(first.id, false))
	if !x.piped.Completed(e.id) {
		return fmt.Errorf("the stage ended in %s, and its log was never completed after piped refused some reports",
			e.kind())
	}
	if all*2 < want {
		return fmt.Errorf("the stage ended in %s, and %d of %d log blocks are lost after piped refused some reports",
			e.kind(), want-all, want)
	}
	p.saw("%s", e.how())
	return e.problem()
}

func logStop(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	held, err := p.hold(x, order{})
	if err != nil {
		return err
	}
	begun := held.begun()
	stopped := make(chan error, 1)
	go func() { stopped <- x.terminate(p.ctx) }()
	p.pause(100 * time.Millisecond)
	held.gate.release()
	err = <-stopped
	held.finish()
	switch {
	case err != nil:
		return fmt.Errorf("while a stage wrote its log: %w", err)
	case !begun:
		return skip("the stage ends without a request to piped, by which it could be held up")
	}
	p.saw("log blocks: %d", len(x.piped.Blocks(held.id, false)))
	return nil
}

// pace counts the requests of the usual stage.
func pace(p *probe) error {
	e, err := p.ranOnce()
	if err != nil {
		return err
	}
	const perSecond, free = 50, 200
	sent := len(e.session.rec.about(func(c call) bool {
		return c.stage == e.id && !isLog(c.method) && !isPut(c.method)
	}))
	if allowed := free + int(e.took.Seconds()*perSecond); sent > allowed {
		return fmt.Errorf("the stage asked piped %d times in %s", sent, e.took.Round(time.Millisecond))
	}
	p.saw("%d questions in %s", sent, e.took.Round(time.Millisecond))
	return nil
}
