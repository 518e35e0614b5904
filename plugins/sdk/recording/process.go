// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"fmt"
	"time"
)

// endLimit bounds the wait for the end of a process whose connection has ended.
const endLimit = 5 * time.Second

// calls makes the recorded calls of piped, and returns the stages that were executed.
func (p *player) calls(ctx context.Context, done func(Outcome)) (stages []stageRef, err error) {
	for i := range p.rec.Calls {
		call := &p.rec.Calls[i]
		if !call.ToPlugin() || !replayable(call) {
			continue
		}
		if p.over {
			if err := p.startAgain(); err != nil {
				return stages, fmt.Errorf("start the plugin again for call %d (%s): %w", call.Seq, call.Method, err)
			}
		}
		outcome, stage, err := p.play(ctx, call)
		if err != nil {
			return stages, fmt.Errorf("call %d (%s): %w", call.Seq, call.Method, err)
		}
		switch p.over = p.ended(ctx); {
		case call.Interrupted(): // its process ended
			p.over = true
			p.program.Kill()
		case p.over:
			outcome.Differences = append(outcome.Differences,
				Difference{"process of the plugin", "it served on", "it ended by itself: " + p.program.End()})
		}
		done(outcome)
		if stage.id != "" {
			stages = append(stages, stage)
		}
	}
	return stages, nil
}

// startAgain starts the plugin in the place of a process that has ended.
func (p *player) startAgain() error {
	program, err := p.options.Start(p.piped)
	if err != nil {
		return err
	}
	_ = p.program.Close() // how it ended is known
	p.program, p.over, p.lost = program, false, false
	return nil
}

// close stops the process, unless it has ended.
func (p *player) close() error {
	err := p.program.Close()
	if p.over {
		return nil // how it ended is in the outcomes
	}
	return err
}

// ended is whether the process has ended by itself. The end of its connection is seen before.
func (p *player) ended(ctx context.Context) bool {
	if !p.lost {
		select {
		case <-p.program.Exited:
			return true
		default:
			return false
		}
	}
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	select {
	case <-p.program.Exited:
		return true
	case <-ctx.Done():
		return false
	}
}
