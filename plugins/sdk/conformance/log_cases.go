// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// maxMessage is what piped takes in one message, in bytes.
const maxMessage = 4 << 20

func logCases() []Case {
	return []Case{{
		ID: "log.valid", Capability: Log, run: requestsValid, last: true,
		Title: "all requests to piped keep the rules of the protocol",
		Why:   "piped refuses them: log entries and metadata are lost",
		Next:  "fill the ids; leave no log block empty; set created_at to the seconds since 1970",
	}, {
		ID: "log.completed", Capability: Log, run: logCompleted,
		Title: "the log of a stage is reported as complete",
		Why:   "user interfaces wait for more, and the control plane does not store the log",
		Next:  "end with ReportStageLogsFromLastCheckpoint and completed set, before the answer",
	}, {
		ID: "log.stored", Capability: Log, run: logStored,
		Title: "all log blocks come with a checkpoint as well",
		Why:   "the control plane forgets blocks that came with ReportStageLogs alone",
		Next:  "send all blocks since the last checkpoint with ReportStageLogsFromLastCheckpoint",
	}, {
		ID: "log.indexes", Capability: Log, run: logIndexes,
		Title: "each log block has a separate index, which rises",
		Why:   "the control plane drops a block whose index it has, and users read lines in a wrong order",
		Next:  "count the index up with each block",
	}, {
		ID: "log.time", Capability: Log, run: logTime,
		Title: "log blocks have the time at which they were written, in seconds",
		Why:   "users see wrong times next to the lines",
		Next:  "set created_at to the seconds since 1970",
	}, {
		ID: "log.ids", Capability: Log, run: logIDs, last: true,
		Title: "requests to piped are about stages that piped has asked for",
		Why:   "the log or metadata lands at another deployment, or nowhere",
		Next:  "copy the ids of the deployment and the stage from the request",
	}, {
		ID: "log.size", Capability: Log, run: messageSize, last: true,
		Title: "no request to piped has more than 4 MiB",
		Why:   "piped refuses larger messages, and the log ends there",
		Next:  "cut long lines, and send a long log with several checkpoints",
	}, {
		ID: "log.text", Capability: Log, run: logText,
		Title: "the log is text without control characters, apart from colours",
		Why:   "control characters change the terminals of those who read the log",
		Next:  "remove escape sequences from the output of programs, or run them without a terminal",
	}}
}

func requestsValid(p *probe) error {
	e, err := p.ranOnce()
	if err != nil {
		return err
	}
	for _, x := range p.suite.sessions() {
		if refused := x.rec.invalids(); len(refused) > 0 {
			return fmt.Errorf("%d are refused, the first: %s", len(refused), clip(refused[0]))
		}
	}
	if keys := e.keys(); keys != "" {
		p.saw("stored with the stage: %s", keys)
	}
	return nil
}

// logOf is the log of the stage that ran to its end.
func logOf(p *probe) (e *execution, stored, all []*model.LogBlock, err error) {
	if e, err = p.settled(); err != nil {
		return nil, nil, nil, err
	}
	piped := e.session.piped
	if piped.LogCalls(e.id) == 0 {
		return nil, nil, nil, skip("the stage writes no log")
	}
	return e, piped.Blocks(e.id, true), piped.Blocks(e.id, false), nil
}

func logCompleted(p *probe) error {
	e, _, all, err := logOf(p)
	if err != nil {
		return err
	}
	if !e.session.piped.Completed(e.id) {
		return errors.New("no ReportStageLogsFromLastCheckpoint with completed came before the answer")
	}
	p.saw("log blocks: %d", len(all))
	return nil
}

func logStored(p *probe) error {
	_, stored, all, err := logOf(p)
	if err != nil {
		return err
	}
	if len(stored) < len(all) {
		return fmt.Errorf("%d of %d blocks came with ReportStageLogs alone", len(all)-len(stored), len(all))
	}
	return nil
}

// blocksOf are the blocks of a request.
func blocksOf(c call) []*model.LogBlock {
	if about, ok := c.request.(interface{ GetBlocks() []*model.LogBlock }); ok {
		return about.GetBlocks()
	}
	return nil
}

func logIndexes(p *probe) error {
	e, _, _, err := logOf(p)
	if err != nil {
		return err
	}
	if conflicts := e.session.piped.LogConflicts(e.id); conflicts > 0 {
		return fmt.Errorf("%d blocks have the index of another block of the stage", conflicts)
	}
	for _, c := range e.session.rec.of(e.id) {
		blocks := blocksOf(c)
		for i := range blocks {
			if i > 0 && blocks[i].GetIndex() <= blocks[i-1].GetIndex() {
				return fmt.Errorf("in one report, a block with the index %d comes after one with %d",
					blocks[i].GetIndex(), blocks[i-1].GetIndex())
			}
		}
	}
	return nil
}

func logTime(p *probe) error {
	e, _, all, err := logOf(p)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, block := range all {
		if away := now.Sub(time.Unix(block.GetCreatedAt(), 0)).Abs(); away > time.Hour {
			return fmt.Errorf("a block of %s has the time %d, and it is %d now", e.stage, block.GetCreatedAt(),
				now.Unix())
		}
	}
	return nil
}

func logIDs(p *probe) error {
	if _, err := p.ranOnce(); err != nil {
		return err
	}
	for _, x := range p.suite.sessions() {
		stray := x.rec.stray()
		for _, c := range stray {
			if c.deployment != "" { // an empty id breaks the rules, see log.valid
				return fmt.Errorf("it sent %s for the stage %q of the deployment %q, which piped had not asked for "+
					"together",
					c.method, c.stage, c.deployment)
			}
		}
	}
	return nil
}

func messageSize(p *probe) error {
	if _, err := p.ranOnce(); err != nil {
		return err
	}
	largest := 0
	for _, x := range p.suite.sessions() {
		for _, c := range x.rec.about(func(c call) bool { return c.size > 0 }) {
			if largest = max(largest, c.size); c.size > maxMessage {
				return fmt.Errorf("it sent %s with %d bytes; piped takes %d", c.method, c.size, maxMessage)
			}
		}
	}
	p.saw("at most %d bytes", largest)
	return nil
}

func logText(p *probe) error {
	_, _, all, err := logOf(p)
	if err != nil {
		return err
	}
	for _, block := range all {
		text := colours.ReplaceAllString(block.GetLog(), "")
		at := strings.IndexFunc(text, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f
		})
		if at >= 0 {
			return fmt.Errorf("a log block has the control character %q", text[at])
		}
		if len(text) < len(block.GetLog()) {
			p.saw("with colours, which users see in PipeCD's page and in pipedeck")
		}
	}
	return nil
}

// colours are the sequences that set the colour and the weight of text. PipeCD's page shows them, as pipedeck does.
var colours = regexp.MustCompile("\x1b\\[[0-9;:]*m")

var _ interface{ GetBlocks() []*model.LogBlock } = (*pluginservice.ReportStageLogsRequest)(nil)
