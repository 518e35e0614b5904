// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// The bounds of metadata, in bytes.
const (
	maxValue = 256 << 10
	maxStage = 512 << 10
)

func metadataCases() []Case {
	return []Case{{
		ID: "metadata.bounds", Capability: Metadata, run: metadataBounds, last: true,
		Title: "metadata has at most 256 KiB for a value and 512 KiB for a stage",
		Why:   "the control plane refuses more, and the next attempt finds nothing to go on from",
		Next:  "store large data elsewhere, such as in a shared object of the application",
	}, {
		ID: "metadata.plugin-name", Capability: Metadata, run: metadataName,
		Title: "metadata of the deployment is stored under the name that piped has given",
		Why:   "a piped may run the plugin under another name, or twice; one would read what the other has stored",
		Next:  "take the name from --config",
	}, {
		ID: "metadata.read", Capability: Metadata, run: metadataRead,
		Title: "a second attempt reads what the first has stored",
		Why:   "the work of the first attempt is done again from its beginning",
		Next:  "read the stage metadata at the beginning of ExecuteStage",
	}, {
		ID: "metadata.refused", Capability: Metadata, run: metadataRefused,
		Title: "metadata that piped refuses does not end the process, and is not taken for stored",
		Why:   "one full deployment would end the stages of all others",
		Next:  "end the stage with the error of PutStageMetadata",
	}, {
		ID: "metadata.unstored", Capability: Metadata, run: metadataUnstored,
		Title: "a stage whose metadata piped cannot store fails, or says so in its log",
		Why:   "the next attempt finds nothing to go on from, and users do not see why",
		Next:  "end the stage with the error of PutStageMetadata, or log it",
	}, {
		ID: "metadata.unread", Capability: Metadata, run: metadataUnread,
		Title: "a stage whose metadata piped cannot read fails, or says so in its log",
		Why:   "an attempt that takes the error for an absent value does again what the one before has done",
		Next:  "end the stage with the error of GetStageMetadata, or log it",
	}, {
		ID: "metadata.foreign", Capability: Metadata, run: metadataForeign,
		Title: "metadata of another version of the plugin does not end the process",
		Why:   "a plugin that is updated in the middle of a deployment finds what the version before has stored",
		Next:  "treat a value that cannot be decoded as absent, or end the stage with an error",
	}}
}

func isPut(method string) bool {
	return strings.HasPrefix(method, "Put") && strings.Contains(method, "Metadata")
}

// values are those of a request that stores metadata.
func values(c call) map[string]string {
	if many, ok := c.request.(interface{ GetMetadata() map[string]string }); ok {
		return many.GetMetadata()
	}
	if one, ok := c.request.(interface {
		GetKey() string
		GetValue() string
	}); ok {
		return map[string]string{one.GetKey(): one.GetValue()}
	}
	return nil
}

func metadataBounds(p *probe) error {
	if _, err := p.ranOnce(); err != nil {
		return err
	}
	stored, largest := 0, 0
	for _, x := range p.suite.sessions() {
		sizes := map[string]map[string]int{}
		for _, c := range x.rec.about(func(c call) bool { return isPut(c.method) }) {
			if sizes[c.stage] == nil {
				sizes[c.stage] = map[string]int{}
			}
			for key, value := range values(c) {
				stored++
				sizes[c.stage][key] = len(key) + len(value)
				if largest = max(largest, len(value)); len(value) > maxValue {
					return fmt.Errorf("it stores %d bytes under %s", len(value), clip(key))
				}
			}
			total := 0
			for _, size := range sizes[c.stage] {
				total += size
			}
			if total > maxStage {
				return fmt.Errorf("it stores %d bytes in %d values with one stage", total, len(sizes[c.stage]))
			}
		}
	}
	if stored == 0 {
		return skip("the stage stores no metadata")
	}
	p.saw("at most %d bytes a value", largest)
	return nil
}

func metadataName(p *probe) error {
	if _, err := p.settled(); err != nil {
		return err
	}
	const name = "conformance-name"
	x, err := p.start(setup{settings: func(settings *sdk.Settings) {
		if len(settings.DeployTargets) == 0 { // targets are given by the name of the plugin
			settings.Name = name
		}
	}})
	if err != nil {
		return err
	}
	if _, err := x.execute(p, order{}); err != nil {
		return err
	}
	want := name
	if len(p.suite.options.Settings.DeployTargets) > 0 {
		want = p.suite.options.Settings.Name
	}
	named := x.rec.about(func(c call) bool {
		_, ok := c.request.(interface{ GetPluginName() string })
		return ok
	})
	if len(named) == 0 {
		return skip("the stage stores nothing with the deployment")
	}
	for _, c := range named {
		if got := c.request.(interface{ GetPluginName() string }).GetPluginName(); got != want {
			return fmt.Errorf("it sent %s for the plugin %q, and is called %q in the piped "+
				"configuration", c.method, got,
				want)
		}
	}
	return nil
}

func metadataRead(p *probe) error {
	x, second, err := attempts(p)
	if err != nil {
		return err
	}
	calls := x.rec.of(second.id)
	put, read := false, false
	for _, c := range calls {
		put = put || isPut(c.method) && !onlyShown(values(c))
		read = read || c.method == "GetStageMetadata" && put
	}
	switch {
	case !put:
		return skip("the stage stores nothing to go on from")
	case !read:
		return note("the second attempt read nothing of what the first had stored")
	}
	return nil
}

// onlyShown is whether values are for users alone.
func onlyShown(values map[string]string) bool {
	for key := range values {
		if !strings.HasPrefix(key, "pipecd/") && !strings.HasPrefix(key, "pipedeck/") {
			return false
		}
	}
	return true
}

func metadataRefused(p *probe) error {
	if _, err := p.settled(); err != nil {
		return err
	}
	var refused atomic.Int64
	x, err := p.start(setup{fail: func(c call) error {
		if isPut(c.method) {
			refused.Add(1)
			return status.Error(codes.ResourceExhausted, "the metadata of the deployment is full")
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
	case x.gone(e.err) != nil:
		return x.gone(e.err)
	case refused.Load() == 0:
		return skip("the stage stores no metadata")
	case e.cut:
		return fmt.Errorf("after piped refused metadata it was still at work after %s", p.suite.options.RunLimit)
	}
	p.saw("%s", e.how())
	return e.problem()
}

func metadataForeign(p *probe) error {
	first, err := p.settled()
	if err != nil {
		return err
	}
	stored := first.session.piped.StageMetadata(first.id)
	if len(stored) == 0 {
		return skip("the stage stores no metadata")
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	id := p.suite.newID()
	for key := range stored {
		x.piped.SetStageMetadata(id, key, "\x01 no value of yours")
	}
	e, err := x.execute(p, order{id: id, attempt: 1})
	switch {
	case err != nil:
		return err
	case x.gone(e.err) != nil:
		return x.gone(e.err)
	case e.cut:
		return skip("%s", p.suite.cutOff())
	}
	p.saw("%s", e.how())
	return e.problem()
}
