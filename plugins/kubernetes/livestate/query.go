// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/lookup"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Request is the SDK's type with the configuration of this plugin.
type Request = sdk.LivestateRequest[config.Plugin, config.DeployTarget, config.Application]

// DriftRequest is the SDK's type with the configuration of this plugin.
type DriftRequest = sdk.DriftRequest[config.Plugin, config.DeployTarget, config.Application]

// Query asks for one application.
type Query struct {
	PipedID, ApplicationID string
	// ApplicationName is what other applications call it.
	ApplicationName string
	// Destinations has at least one element.
	Destinations []Destination
}

// Destination is a deploy target with the application as it should be there: targets may have separate manifests.
type Destination struct {
	Target stage.Target
	Source *stage.Source
	// Newest is the application at the newest commit in Git; nil when that is Source.
	Newest *stage.Source
}

// parallelTargets bounds the deploy targets of an application that are asked at the same time.
const parallelTargets = 8

// Get reports what runs of an application at its deploy targets, and how that differs from their sources. What should
// run at a target whose cluster does not answer is unknown, and the application is reported as changed when the cluster
// answers again. Other targets that cannot be asked are unknown, too, unless none can: that is an error.
func (s *Store) Get(ctx context.Context, q Query) (*sdk.Livestate, error) {
	for _, waiting := range s.names.learn(q.ApplicationID, q.ApplicationName) {
		s.mark(waiting)
	}
	wanted, err := s.allDesired(ctx, q)
	if err != nil {
		return nil, err
	}
	answers, err := s.answers(ctx, q, wanted)
	if err != nil {
		return nil, err
	}
	s.keepLast(q, wanted, answers)
	return merge(answers), nil
}

// answers asks the deploy targets of a query.
func (s *Store) answers(ctx context.Context, q Query, wanted []*wanted) ([]answer, error) {
	answers := make([]answer, len(q.Destinations))
	places := make(chan struct{}, parallelTargets)
	var asking sync.WaitGroup
	for i, d := range q.Destinations {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			answers[i] = s.ask(ctx, q, d, wanted[i])
		})
	}
	asking.Wait()
	var failed []error
	for _, a := range answers {
		if a.err != nil {
			failed = append(failed, fmt.Errorf("deploy target %s: %w", a.target, a.err))
		}
	}
	reached := func(a answer) bool { return !a.away }
	if len(failed) == len(answers) && slices.ContainsFunc(answers, reached) || ctx.Err() != nil {
		return nil, errors.Join(failed...)
	}
	for i, a := range answers {
		if a.err == nil {
			s.back(a.target)
		} else {
			s.awaits(q.Destinations[i].Target, q.ApplicationID)
			answers[i] = a.unknown(wanted[i])
		}
	}
	setApart(answers)
	return answers, nil
}

// answer is what is known of an application at one deploy target.
type answer struct {
	target string
	// before is put before the ids of the resources.
	before    string
	resources []*sdk.ResourceState
	sync      sdk.SyncState
	// found is what is not as it was deployed, of looked; both are empty when the target could not be asked.
	found  []finding
	looked look
	// idle says why rules of the configuration ignore nothing here, by their place in it.
	idle map[string]string
	// away says that err is that of a cluster that does not answer.
	away bool
	err  error
}

// look is what was compared at one deploy target.
type look struct {
	cluster *watched
	// changes is what the cluster had counted before.
	changes int64
	drift   *drift
	places  []place
	objects []*object
}

// ask looks at one deploy target.
func (s *Store) ask(ctx context.Context, q Query, to Destination, want *wanted) answer {
	a := answer{target: to.Target.Name, err: want.away}
	if a.err != nil { // it may answer by now, but what should be there is not known
		return a
	}
	var c *watched
	if c, a.err = s.connect(ctx, to.Target); a.err != nil {
		a.away = true
		return a
	}
	changes := c.changes.Load()
	var placed *placed
	if placed, a.err = c.placeAll(ctx, want, to.Target.Config.AppStateInformer, q.ApplicationID); a.err != nil {
		return a
	}
	placed.target = to.Source.App.DeployTarget()
	objects := placed.objects(q.ApplicationID)
	var installOnly map[manifest.Key]bool
	placed.places, installOnly = deployed(placed.places, liveOf(objects), to.Source.CommitHash)
	holder := func(p place) string { return placed.holder(p, q.ApplicationID, s.names) }
	d := &drift{dryRun: c.dryRun, holder: holder, unowned: c.unowned, verdicts: s.verdicts, source: to.Source,
		target: a.target, ignored: want.ignored, routed: want.routed, agreed: want.agreed,
		varies: want.reads != nil || want.moments != nil, installOnly: installOnly, managers: c.managers}
	if a.found, a.err = d.compare(ctx, placed.places, objects); a.err != nil {
		return a
	}
	c.lent.note(q.ApplicationID, a.found)
	a.found = slices.DeleteFunc(a.found, func(f finding) bool { return f.foreign && f.shared })
	a.idle = d.idle(want.manifests, placed.places, liveOf(objects))
	a.looked = look{cluster: c, changes: changes, drift: d, places: placed.places, objects: objects}
	judged := judge{s.rules, c}.resources(ctx, objects, a.target)
	a.sync, a.resources = *d.state(a.found), marked(judged, a.found, a.target)
	a.resources = append(a.resources, collected(placed.places, objects, a.found, a.target)...)
	return a
}

// wanted is what the application consists of at a commit: stamped, values of Secrets hashed.
type wanted struct {
	manifests []manifest.Manifest
	// reads are what its charts have looked up; away is why they were rendered without their cluster. Both are nil for
	// all others.
	reads *lookup.Reads
	away  error
	// moments are what manifests, which are those of an upgrade, do not have in common with those of an installation.
	moments *moments
	// ignored are the fields that do not count.
	ignored []*ignoreRule
	routed  []routedForm
	agreed  *agreements
	of      version
}

// wantedKey is an application at a deploy target; of each only one version is kept, and one of those that are newest
// in Git.
type wantedKey struct {
	piped, application, target string
	newest                     bool
}

// version is what the manifests of an application depend on.
type version struct {
	commit, file string
	config       [sha256.Size]byte
}

// allDesired loads what the last deployment has applied at each deploy target.
func (s *Store) allDesired(ctx context.Context, q Query) ([]*wanted, error) {
	all := make([]*wanted, len(q.Destinations))
	group, loading := errgroup.WithContext(ctx)
	group.SetLimit(parallelTargets)
	for i, d := range q.Destinations {
		group.Go(func() (err error) {
			all[i], err = s.desired(loading, q, d)
			return err
		})
	}
	return all, group.Wait()
}

// desired loads what the last deployment has applied; a commit is loaded once.
func (s *Store) desired(ctx context.Context, q Query, to Destination) (*wanted, error) {
	return s.load(ctx, q, to.Target, to.Source,
		wantedKey{piped: q.PipedID, application: q.ApplicationID, target: to.Target.Name})
}

// newest loads what Git asks for now; nil when that is what the last deployment has applied.
func (s *Store) newest(ctx context.Context, q Query, to Destination) (*wanted, error) {
	if to.Newest == nil {
		return nil, nil
	}
	return s.load(ctx, q, to.Target, to.Newest,
		wantedKey{piped: q.PipedID, application: q.ApplicationID, target: to.Target.Name, newest: true})
}

// errNoSource is the answer to a question that piped does not ask. The panic of a goroutine would end the process.
var errNoSource = errors.New("the request has no source of the application: give the commit that was applied last")

func (s *Store) load(ctx context.Context, q Query, target stage.Target, source *stage.Source,
	key wantedKey) (*wanted, error) {
	if source == nil {
		return nil, errNoSource
	}
	of := version{commit: source.CommitHash, file: source.ConfigFilename, config: sha256.Sum256(source.ConfigData)}
	if known, ok := s.wanted.get(key); ok && known.of == of && known.reads.Same(ctx) {
		return known, nil
	}
	how := stage.Loading{Upgrade: true, Deployed: true, Connect: func(ctx context.Context) (*cluster.Client, error) {
		return s.pool.Reach(ctx, target.Config, s.reach)
	}}
	loaded, err := s.loader.LoadPrimary(ctx, []stage.Target{target}, source, how)
	if err != nil {
		return nil, fmt.Errorf("load the manifests at commit %s: %w", source.CommitHash, err)
	}
	w := &wanted{manifests: loaded.Manifests, reads: loaded.Reads, away: loaded.Away, of: of, agreed: newAgreements()}
	if loaded.ReadsMoment {
		if w.moments, err = s.moments(ctx, target, source, how, loaded.Manifests); err != nil {
			return nil, fmt.Errorf("load the manifests at commit %s: %w", source.CommitHash, err)
		}
	}
	label := source.App.VariantLabel
	manifest.Stamp{
		PipedID: q.PipedID, ApplicationID: q.ApplicationID, CommitHash: source.CommitHash,
		VariantKey: label.Key, Variant: label.PrimaryValue, DeployTarget: source.App.DeployTarget(),
	}.Apply(w.all())
	for _, m := range w.all() {
		s.masker.mask(m.Unstructured)
	}
	if w.ignored, w.routed, err = ignoredFields(source, w.all()); err != nil {
		return nil, fmt.Errorf("%s at commit %s: %w", source.ConfigFilename, source.CommitHash, err)
	}
	if w.away == nil {
		s.wanted.put(key, w)
	}
	return w, nil
}

// ignoredFields are those that the configuration names, and those that stages write other than it is in Git; routed are
// the forms of objects that stages leave.
func ignoredFields(source *stage.Source, manifests []manifest.Manifest) (all []*ignoreRule, routed []routedForm,
	err error) {
	rules, err := ignoreRules(source.ConfigData)
	if err != nil {
		return nil, nil, err
	}
	if routed, err = routedForms(source, manifests, rules); err != nil {
		return nil, nil, err
	}
	fields, err := routedFields(source, manifests)
	return append(rules, fields...), routed, err
}

// resources turns objects into what piped reports.
func (j judge) resources(ctx context.Context, objects []*object, target string) []*sdk.ResourceState {
	states := make([]*sdk.ResourceState, 0, len(objects))
	owners := newOwners(objects)
	for _, o := range objects {
		health, description := j.healthOf(ctx, o.live)
		health, description = owners.amend(o, health, description)
		metadata := metadataOf(o.live)
		if health == sdk.Healthy && description != "" && description == keeps(o.live) {
			metadata[metadataNote] = description
		}
		states = append(states, &sdk.ResourceState{
			ID: string(o.live.GetUID()), ParentIDs: o.parents, Name: o.live.GetName(), Type: o.live.GetKind(),
			Metadata: metadata,
			Health:   health, HealthDescription: description, DeployTarget: target,
			CreatedAt: o.live.GetCreationTimestamp().Time,
		})
	}
	return states
}

// metadataDrift says in the metadata of a resource how it differs from Git. (Not in PipeCD v1, whose UI shows it.)
const metadataDrift = "Drift"

// metadataNote says in the metadata of a healthy resource what a user of the application has to know of it.
const metadataNote = "Note"

// missingID is the id of what should be at a deploy target and is not.
func missingID(target string, key manifest.Key) string {
	return "missing/" + target + "/" + key.String()
}

// marked says of each resource how it differs from Git, and adds what is missing.
func marked(states []*sdk.ResourceState, found []finding, target string) []*sdk.ResourceState {
	byID := make(map[string]*sdk.ResourceState, len(states))
	for _, r := range states {
		byID[r.ID] = r
	}
	for _, f := range found {
		if f.live != nil {
			if r := byID[string(f.live.GetUID())]; r != nil {
				r.Metadata[metadataDrift] = f.mark()
			}
			continue
		}
		health := sdk.Unhealthy
		if f.foreign { // how it lives is the state of another application
			health = sdk.HealthUnknown
		}
		states = append(states, &sdk.ResourceState{
			ID: missingID(target, f.key), Name: f.key.Name, Type: f.key.Kind,
			DeployTarget: target,
			Metadata: map[string]string{"Namespace": f.key.Namespace, "Kind": f.key.Kind,
				metadataDrift: f.mark()},
			Health: health, HealthDescription: f.what,
		})
	}
	return states
}
