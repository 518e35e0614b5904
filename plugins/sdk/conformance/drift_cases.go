// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// The bounds of the differences between Git and what is live.
const (
	maxDriftResources = 100
	maxDriftFields    = 50
	maxDriftBytes     = 256 << 10
)

func driftCases() []Case {
	return []Case{{
		ID: "drift.answers", Capability: Drift, run: driftAnswers,
		Title: "reports the fields that differ from Git in time",
		Why:   "users see OUT_OF_SYNC, and not which field differs",
		Next:  "answer GetDrift within 30 s, without resources where nothing differs",
	}, {
		ID: "drift.resources", Capability: Drift, run: driftResources,
		Title: "differences belong to resources of the live state",
		Why:   "the user interface has no place to show them at",
		Next:  "use the ids of GetLivestate",
	}, {
		ID: "drift.bounds", Capability: Drift, run: driftBounds,
		Title: "reports at most 100 resources, 50 fields of each, and 256 KiB",
		Why:   "piped cuts the answer, or drops it",
		Next:  "count what is left out in more_fields",
	}}
}

func (p *probe) drift() (*livestate.GetDriftResponse, error) {
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	request, err := liveRequest(p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := livestate.NewLivestateDriftServiceClient(x.conn).GetDrift(ctx,
		&livestate.GetDriftRequest{Livestate: request})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return nil, skip("it does not report differences by field")
	case x.gone(err) != nil:
		return nil, x.gone(err)
	case refusal(err):
		return nil, skip("it refuses this application: %s", words(err))
	case err != nil:
		return nil, fmt.Errorf("GetDrift ended with %s", words(err))
	}
	return answer, nil
}

func driftAnswers(p *probe) error {
	answer, err := p.drift()
	p.saw("%d resources differ", len(answer.GetResources()))
	return err
}

func driftResources(p *probe) error {
	answer, err := p.drift()
	if err != nil {
		return err
	}
	state, err := p.liveOnce()
	if err != nil {
		return err
	}
	for _, drift := range answer.GetResources() {
		known := slices.ContainsFunc(state.resources(), func(r *model.ResourceState) bool {
			return r.GetId() == drift.GetResourceId()
		})
		if !known {
			return fmt.Errorf("it reports differences of %q, which is no resource of the live state",
				clip(drift.GetResourceId()))
		}
	}
	return nil
}

func driftBounds(p *probe) error {
	answer, err := p.drift()
	if err != nil {
		return err
	}
	if count := len(answer.GetResources()); count > maxDriftResources {
		return fmt.Errorf("it reports %d resources", count)
	}
	for _, drift := range answer.GetResources() {
		if count := len(drift.GetFields()); count > maxDriftFields {
			return fmt.Errorf("it reports %d fields of %q", count, clip(drift.GetResourceId()))
		}
	}
	if size := proto.Size(answer); size > maxDriftBytes {
		return fmt.Errorf("it reports %d bytes", size)
	}
	return nil
}
