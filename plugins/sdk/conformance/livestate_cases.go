// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

func liveStateCases() []Case {
	return []Case{{
		ID: "livestate.answers", Capability: LiveState, run: liveAnswers,
		Title: "reports the live state of an application in time",
		Why:   "piped asks every minute; users see no live state, and one slow application holds up the others",
		Next:  "answer GetLivestate within 30 s, from a cache if need be",
	}, {
		ID: "livestate.resources", Capability: LiveState, run: liveResources,
		Title: "resources have an id, a name, a known health and times above 0",
		Why:   "the control plane refuses the whole live state when one resource breaks the rules",
		Next:  "fill id, name, created_at and updated_at of each resource",
	}, {
		ID: "livestate.unique", Capability: LiveState, run: liveUnique,
		Title: "each resource has a separate id",
		Why:   "the user interface draws one of them, and connects the wrong ones",
		Next:  "make the id of the deploy target, the kind and the name",
	}, {
		ID: "livestate.parents", Capability: LiveState, run: liveParents,
		Title: "the parents of a resource are resources of the same live state",
		Why:   "the tree of resources has loose parts, or draws in a circle",
		Next:  "name ids in parent_ids that are in the answer, and never the resource itself",
	}, {
		ID: "livestate.targets", Capability: LiveState, run: liveTargets,
		Title: "resources belong to the deploy targets that were asked about",
		Why:   "users see resources of another environment at their application",
		Next:  "look at deploy_targets of the request",
	}, {
		ID: "livestate.sync", Capability: LiveState, run: liveSync,
		Title: "the sync state is a known status, with a time and with a reason when it is out of sync",
		Why:   "the control plane refuses the state, or users see OUT_OF_SYNC and not what differs",
		Next:  "fill timestamp, short_reason and reason",
	}, {
		ID: "livestate.unknown-application", Capability: LiveState, run: liveUnknownApplication,
		Title: "an application that it has never deployed does not end the process",
		Why:   "a new application would end the stages of all deployments",
		Next:  "answer without resources, or with an error",
	}, {
		ID: "livestate.unknown-target", Capability: LiveState, run: liveUnknownTarget,
		Title: "a deploy target that it does not have does not end the process",
		Why:   "one wrong application would end the stages of all deployments",
		Next:  "answer with an error that names the target",
	}, {
		ID: "livestate.cancel", Capability: LiveState, run: liveCancel,
		Title: "a cancelled question does not disturb the next one",
		Why:   "piped gives up after a time and asks again; questions would pile up",
		Next:  "stop at the end of the context of the call",
	}, {
		ID: "livestate.stable", Capability: LiveState, run: liveStable,
		Title: "names the same resources by the same ids three times",
		Why:   "the user interface draws every resource again, and loses what is selected",
		Next:  "make the id of what identifies the resource, not of a counter or a random number",
	}, sourcesCase("livestate.sources", LiveState, "GetLivestate", askLive)}
}

// liveState is one answer to GetLivestate.
type liveState struct {
	request *livestate.GetLivestateRequest
	answer  *livestate.GetLivestateResponse
	err     error
	took    time.Duration
}

func liveRequest(p *probe) (*livestate.GetLivestateRequest, error) {
	source, err := p.suite.sourceFor()
	if err != nil {
		return nil, err
	}
	return p.suite.liveRequest(source, p.suite.targets()), nil
}

func (p *probe) ask(x *session, edit func(*livestate.GetLivestateRequest)) (*liveState, error) {
	request, err := liveRequest(p)
	if err != nil {
		return nil, err
	}
	if edit != nil {
		edit(request)
	}
	ctx, cancel := p.limit()
	defer cancel()
	began := time.Now()
	answer, err := livestate.NewLivestateServiceClient(x.conn).GetLivestate(ctx, request)
	if died := x.gone(err); died != nil {
		return nil, died
	}
	return &liveState{request, answer, err, time.Since(began)}, p.ctx.Err()
}

var errNoLiveState = skip("it does not report live state")

// liveOnce is the answer that most cases look at.
func (p *probe) liveOnce() (*liveState, error) {
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	state, err := p.suite.live.get(func() (*liveState, error) { return p.ask(x, nil) })
	switch {
	case err != nil:
		return nil, err
	case status.Code(state.err) == codes.Unimplemented:
		return nil, errNoLiveState
	case refusal(state.err) && status.Code(state.err) != codes.ResourceExhausted:
		return nil, skip("it refuses this application: %s", words(state.err))
	case state.err != nil:
		return nil, skip("it does not answer, see livestate.answers")
	}
	return state, nil
}

func (s *liveState) resources() []*model.ResourceState {
	return s.answer.GetApplicationLiveState().GetResources()
}

func liveAnswers(p *probe) error {
	state, err := p.liveOnce()
	if first := p.suite.live.value; first != nil && status.Code(first.err) == codes.ResourceExhausted {
		return fmt.Errorf("piped takes answers of 4 MiB, and GetLivestate ended with %s", words(first.err))
	}
	if first := p.suite.live.value; first != nil && first.err != nil && !refusal(first.err) &&
		status.Code(first.err) != codes.Unimplemented {
		return fmt.Errorf("GetLivestate ended with %s after %s", words(first.err), first.took.Round(time.Millisecond))
	}
	if err != nil {
		return err
	}
	p.saw("%d resources after %s", len(state.resources()), state.took.Round(time.Millisecond))
	return nil
}

// eachResource makes a case of a rule for resources.
func eachResource(p *probe, check func(state *liveState, resource *model.ResourceState) error) error {
	state, err := p.liveOnce()
	if err != nil {
		return err
	}
	if len(state.resources()) == 0 {
		return skip("the live state has no resources")
	}
	for _, resource := range state.resources() {
		if err := check(state, resource); err != nil {
			return err
		}
	}
	return nil
}

func liveResources(p *probe) error {
	return eachResource(p, func(_ *liveState, resource *model.ResourceState) error {
		if err := resource.Validate(); err != nil {
			return fmt.Errorf("resource %q: %w", clip(resource.GetName()), err)
		}
		return nil
	})
}

func liveUnique(p *probe) error {
	seen := map[string]bool{}
	return eachResource(p, func(_ *liveState, resource *model.ResourceState) error {
		if seen[resource.GetId()] {
			return fmt.Errorf("two resources have the id %q", clip(resource.GetId()))
		}
		seen[resource.GetId()] = true
		return nil
	})
}

func liveParents(p *probe) error {
	return eachResource(p, func(state *liveState, resource *model.ResourceState) error {
		for _, parent := range resource.GetParentIds() {
			known := slices.ContainsFunc(state.resources(), func(r *model.ResourceState) bool {
				return r.GetId() == parent
			})
			if !known {
				return fmt.Errorf("the parent %q of %s is no resource of the live state", clip(parent),
					resource.GetName())
			}
			if parent == resource.GetId() {
				return fmt.Errorf("%s is its own parent", resource.GetName())
			}
		}
		return nil
	})
}

func liveTargets(p *probe) error {
	return eachResource(p, func(state *liveState, resource *model.ResourceState) error {
		target := resource.GetDeployTarget()
		if target != "" && !slices.Contains(state.request.GetDeployTargets(), target) {
			return fmt.Errorf("%s is at the deploy target %q, which was not asked about", resource.GetName(), target)
		}
		return nil
	})
}

func liveSync(p *probe) error {
	state, err := p.liveOnce()
	if err != nil {
		return err
	}
	sync := state.answer.GetSyncState()
	if sync == nil {
		return skip("it reports no sync state")
	}
	if err := sync.Validate(); err != nil {
		return fmt.Errorf("sync state: %w", err)
	}
	if sync.GetStatus() == model.ApplicationSyncStatus_OUT_OF_SYNC && sync.GetShortReason() == "" &&
		sync.GetReason() == "" {
		return errors.New("it reports OUT_OF_SYNC without a reason")
	}
	p.saw("%s", sync.GetStatus())
	return nil
}

// survivesLive asks something unusual in a separate process.
func survivesLive(p *probe, edit func(*livestate.GetLivestateRequest)) error {
	if _, err := p.liveOnce(); errors.Is(err, errNoLiveState) {
		return err
	}
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	state, err := p.ask(x, edit)
	if err != nil {
		return err
	}
	if status.Code(state.err) == codes.DeadlineExceeded {
		return fmt.Errorf("it did not answer in %s", p.suite.bounds.Answer)
	}
	p.saw("%s", words(state.err))
	return nil
}

func liveUnknownApplication(p *probe) error {
	return survivesLive(p, func(request *livestate.GetLivestateRequest) {
		request.ApplicationId, request.ApplicationName, request.DeploySource = "no-such-application", "none", nil
	})
}

func liveUnknownTarget(p *probe) error {
	return survivesLive(p, func(request *livestate.GetLivestateRequest) {
		request.DeployTargets = []string{"no-such-target"}
	})
}

func liveCancel(p *probe) error {
	if _, err := p.liveOnce(); err != nil {
		return err
	}
	x := p.used
	request, err := liveRequest(p)
	if err != nil {
		return err
	}
	for range 5 {
		ctx, cancel := context.WithTimeout(p.ctx, time.Millisecond)
		_, _ = livestate.NewLivestateServiceClient(x.conn).GetLivestate(ctx, request)
		cancel()
	}
	state, err := p.ask(x, nil)
	if err != nil {
		return err
	}
	if state.err != nil {
		return fmt.Errorf("after five cancelled questions, GetLivestate ended with %s", words(state.err))
	}
	return nil
}

// liveStable asks while no stage deploys. Resources that a stage has just deployed may get their ids a moment later, so
// the question is asked again then.
func liveStable(p *probe) error {
	state, err := p.liveOnce()
	if err != nil {
		return err
	}
	if len(state.resources()) == 0 {
		return skip("the live state has no resources")
	}
	p.suite.deploying.Lock()
	defer p.suite.deploying.Unlock()
	for range 3 {
		if err = sameIDs(p); err == nil || p.ctx.Err() != nil {
			return err
		}
		p.pause(500 * time.Millisecond)
	}
	return err
}

// sameIDs compares the ids of three answers.
func sameIDs(p *probe) error {
	var before map[string]string
	for range 3 {
		state, err := p.ask(p.used, nil)
		if err != nil {
			return err
		}
		ids := idsByName(state)
		for name, id := range ids {
			if known, was := before[name]; was && known != id {
				return fmt.Errorf("the id of %s was %q, and then %q", name, clip(known), clip(id))
			}
		}
		before = ids
	}
	return nil
}

func idsByName(state *liveState) map[string]string {
	ids := map[string]string{}
	for _, r := range state.resources() {
		ids[r.GetDeployTarget()+" "+r.GetResourceType()+" "+r.GetName()] = r.GetId()
	}
	return ids
}
