// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// Deployments are the deployments that have not ended and the last ones that have, with their logs.
type Deployments struct {
	ledger       *ledger
	applications *Applications
	events       *Events
	commands     *Commands
	chains       *chains

	mu      sync.Mutex
	index   deploymentIndex
	logs    logs
	orphans orphans
}

func newDeployments(l *ledger, a *Applications, e *Events, c *Commands, ch *chains) *Deployments {
	d := &Deployments{ledger: l, applications: a, events: e, commands: c, chains: ch, logs: logs{limits: l.limits}}
	d.clear()
	c.ended = d.endedAt
	return d
}

// clear forgets all deployments. The store is frozen.
func (d *Deployments) clear() {
	d.index.clear()
	d.logs.bytes = 0
}

// Create stores a new deployment as it is given.
func (d *Deployments) Create(pipedID string, m *model.Deployment) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.create(pipedID, m)
}

// CreateChain stores the first deployment and a block for every matcher, and asks the pipeds of
// the matching applications to deploy them in their turn.
func (d *Deployments) CreateChain(pipedID string, r *pipedservice.CreateDeploymentChainRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := proto.CloneOf(r.GetFirstDeployment())
	id := cmp.Or(first.GetDeploymentChainId(), newID())
	first.DeploymentChainId, first.DeploymentChainBlockIndex = id, 0
	if err := d.chains.begin(id, first.GetApplicationId(), r.GetMatchers()); err != nil {
		return err
	}
	if err := d.create(pipedID, first); err != nil {
		d.chains.abandon(id)
		return err
	}
	for _, command := range d.chains.confirm(id) {
		if _, err := d.commands.Add(command); err != nil {
			return fmt.Errorf("ask for the deployment of application %s in chain %s: %w", command.GetApplicationId(),
				id, err)
		}
	}
	return nil
}

func (d *Deployments) create(pipedID string, m *model.Deployment) error {
	if err := d.applications.owned(pipedID, m.GetApplicationId()); err != nil {
		return err
	}
	if m.GetPipedId() != pipedID || m.GetProjectId() != d.ledger.project {
		return denied("deployment %s names another piped or project than the caller's", m.GetId())
	}
	if d.index.byID[m.GetId()] != nil {
		return alreadyExists("deployment %s exists already", m.GetId())
	}
	limits := d.ledger.limits
	if d.index.running() >= limits.OpenDeployments {
		return exhausted("%d deployments have not ended yet; cancel some before starting more", limits.OpenDeployments)
	}
	if err := limits.room(m, 1); err != nil {
		return err
	}
	now := d.ledger.now()
	created := &deployment{
		model: proto.CloneOf(m), created: now, stages: map[string]StageTimes{}, logs: map[string]*stageLog{},
		eventCommit: d.events.commitOf(m.GetDeploymentTraceCommitHash()),
	}
	created.model.CreatedAt = cmp.Or(created.model.GetCreatedAt(), now.Unix())
	created.model.UpdatedAt = cmp.Or(created.model.GetUpdatedAt(), now.Unix())
	d.index.put(created)
	if completed(m.GetStatus()) {
		created.completed = now
		d.complete(created)
	}
	d.publish(created)
	d.applications.deployed(m.GetApplicationId(), m.GetId(), false)
	return nil
}

// Get returns a deployment of the project.
func (d *Deployments) Get(id string) (*Deployment, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.index.find(id)
	if err != nil {
		return nil, err
	}
	return found.view(), nil
}

// OfPiped returns a deployment of the piped.
func (d *Deployments) OfPiped(pipedID, id string) (*model.Deployment, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.index.findOwned(pipedID, id)
	if err != nil {
		return nil, err
	}
	return proto.CloneOf(found.model), nil
}

// Open returns a page of the piped's deployments that have not ended, the oldest first. The page begins
// after the deployment with that number; next is the number of its last one, and 0 when there are no more.
func (d *Deployments) Open(pipedID string, after int, b Bounds) (page []*model.Deployment, next int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := d.index.open[pipedID]
	from := 0
	for from < len(open) && open[from].sequence <= after {
		from++
	}
	page, more := pageOf(open[from:], func(one *deployment) *model.Deployment { return proto.CloneOf(one.model) }, b)
	if more {
		next = open[from+len(page)-1].sequence
	}
	return page, next
}

// List returns a page of the deployments that match, the one updated last in front, and whether there are more.
func (d *Deployments) List(
	match func(*model.Deployment) bool, after Position, b Bounds,
) (page []*model.Deployment, more bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []*deployment
	for _, one := range d.index.byID {
		if after.before(one.model.GetUpdatedAt(), one.model.GetId()) && match(one.model) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *deployment) int {
		return cmp.Or(cmp.Compare(b.model.GetUpdatedAt(), a.model.GetUpdatedAt()),
			cmp.Compare(a.model.GetId(), b.model.GetId()))
	})
	return pageOf(found, func(one *deployment) *model.Deployment { return proto.CloneOf(one.model) }, b)
}

// InChainPlannable returns the verdict for a deployment in a block of a chain.
func (d *Deployments) InChainPlannable(pipedID, id, chainID string, block uint32) (ChainVerdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.index.findOwned(pipedID, id); err != nil {
		return ChainVerdict{}, err
	}
	return d.chains.verdict(chainID, block)
}

// endedAt returns when a deployment ended; zero when it has not, or is not known.
func (d *Deployments) endedAt(id string) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.index.byID[id]; found != nil {
		return found.completed
	}
	return time.Time{}
}

// changed stamps and publishes.
func (d *Deployments) changed(one *deployment) {
	one.model.UpdatedAt = d.ledger.now().Unix()
	d.publish(one)
}

// publish keeps and publishes a deployment, and has its chain follow.
func (d *Deployments) publish(one *deployment) {
	d.chains.follow(one.model)
	d.ledger.keep(one.record)
	d.ledger.publish(Change{Deployment: one.view()})
}

// complete files a deployment that has just ended, and drops the logs of those that are forgotten for it.
func (d *Deployments) complete(ended *deployment) {
	for _, log := range ended.logs {
		log.notify()
	}
	for _, forgotten := range d.index.complete(ended, d.ledger.limits) {
		d.logs.drop(forgotten)
	}
}

// followChain has the deployments of a chain that was restored after them be followed by it.
func (d *Deployments) followChain(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.index.byID {
		if one.model.GetDeploymentChainId() == id {
			d.chains.follow(one.model)
		}
	}
}

func completed(status model.DeploymentStatus) bool {
	return status >= model.DeploymentStatus_DEPLOYMENT_SUCCESS
}
