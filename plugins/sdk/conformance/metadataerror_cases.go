// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
)

// metadataAway is what piped answers to a request about metadata that it cannot serve.
const metadataAway = "the control plane has no metadata now"

// Values that are for users alone need not be stored.
func metadataUnstored(p *probe) error {
	return unsilent(p, order{}, "stores no metadata to go on from", func(c call) bool {
		return isPut(c.method) && !onlyShown(values(c))
	})
}

// It is judged by a later attempt, which has something to read.
func metadataUnread(p *probe) error {
	return unsilent(p, order{attempt: 1}, "reads no metadata to go on from", func(c call) bool {
		read, ok := c.request.(interface{ GetKey() string })
		return ok && c.method == "GetStageMetadata" && !onlyShown(map[string]string{read.GetKey(): ""})
	})
}

// unsilent has piped answer some requests with an error. A stage must not succeed then as if it had not seen the error.
// without says why the case is not applicable to a stage that makes no such request.
func unsilent(p *probe, o order, without string, about func(call) bool) error {
	first, err := p.settled()
	switch {
	case err != nil:
		return err
	case !first.succeeded():
		return skip("the stage does not succeed without an error of piped either")
	}
	var failed atomic.Int64
	x, err := p.start(setup{fail: func(c call) error {
		if about(c) {
			failed.Add(1)
			return status.Error(codes.Internal, metadataAway)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	o.id = p.suite.newID()
	if o.attempt > 0 {
		for key, value := range first.session.piped.StageMetadata(first.id) {
			x.piped.SetStageMetadata(o.id, key, value)
		}
	}
	e, err := x.execute(p, o)
	switch {
	case err != nil:
		return err
	case x.gone(e.err) != nil:
		return x.gone(e.err)
	case failed.Load() == 0:
		return skip("the stage %s", without)
	case e.cut:
		return skip("%s", p.suite.cutOff())
	case e.succeeded() && !e.mentions(metadataAway):
		return fmt.Errorf("piped answered %d of its requests with the error %q, and the stage ended in %s without a "+
			"word about it in its log", failed.Load(), metadataAway, strings.TrimPrefix(e.kind(), "STAGE_"))
	}
	p.saw("%s", e.how())
	return e.problem()
}

// succeeded is whether the plugin says that the deployment goes on.
func (e *execution) succeeded() bool { return e.err == nil && terminal(e.status) && !e.failed() }

// mentions is whether the log has an error, or an entry with the words.
func (e *execution) mentions(words string) bool {
	return slices.ContainsFunc(e.session.piped.Blocks(e.id, false), func(block *model.LogBlock) bool {
		return block.GetSeverity() == model.LogSeverity_ERROR || strings.Contains(block.GetLog(), words)
	})
}
