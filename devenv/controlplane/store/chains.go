// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// chains are the last deployment chains.
type chains struct {
	ledger       *ledger
	applications *Applications
	signals      *signals

	mu    sync.Mutex
	byID  map[string]*chain
	order []string // the oldest first
}

// chain is a deployment chain: block after block of applications that are deployed together.
type chain struct {
	id     string
	blocks [][]*chainNode
	// notes say which members are not deployed, and why. They end the reason of the first deployment.
	notes []string
}

type chainNode struct {
	application string
	// Empty until the application's piped has created it.
	deployment string
	status     model.DeploymentStatus
}

func newChains(l *ledger, a *Applications, s *signals) *chains {
	return &chains{ledger: l, applications: a, signals: s, byID: map[string]*chain{}}
}

// clear forgets all chains. The store is frozen.
func (c *chains) clear() { c.byID, c.order = map[string]*chain{}, nil }

// begin adds a chain that begins with an application's deployment, and has a block for every matcher.
func (c *chains) begin(
	id, application string, matchers []*pipedservice.CreateDeploymentChainRequest_ApplicationMatcher,
) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[id] != nil {
		return alreadyExists("deployment chain %s exists already", id)
	}
	begun := &chain{id: id, blocks: [][]*chainNode{{{application: application}}}}
	for _, m := range matchers {
		nodes, note := c.members(application, m)
		begun.blocks = append(begun.blocks, nodes)
		if note != "" {
			begun.notes = append(begun.notes, note)
		}
	}
	c.put(begun)
	return nil
}

// members are the applications of a block. The one that the chain begins with is left out: it would be deployed twice.
// The note says so, or that there are none; it is empty otherwise.
func (c *chains) members(
	first string, m *pipedservice.CreateDeploymentChainRequest_ApplicationMatcher,
) (nodes []*chainNode, note string) {
	for _, matching := range c.applications.matching(m) {
		if matching == first {
			note = fmt.Sprintf("the member %s is not deployed again: the chain begins with it", matcherText(m))
			continue
		}
		nodes = append(nodes, &chainNode{application: matching})
	}
	if len(nodes) == 0 && note == "" {
		note = fmt.Sprintf("no application matches the member %s", matcherText(m))
	}
	return nodes, note
}

// matcherText is a matcher as a configuration has it.
func matcherText(m *pipedservice.CreateDeploymentChainRequest_ApplicationMatcher) string {
	var parts []string
	for _, part := range []struct{ key, value string }{{"name", m.GetName()}, {"kind", m.GetKind()}} {
		if part.value != "" {
			parts = append(parts, part.key+": "+part.value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.GetLabels())) {
		parts = append(parts, "label "+key+": "+m.GetLabels()[key])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// noted is the reason of a deployment, with the notes of the chain that it begins.
func (c *chains) noted(reason string, d *model.Deployment) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.byID[d.GetDeploymentChainId()]
	if found == nil || d.GetDeploymentChainBlockIndex() != 0 || len(found.notes) == 0 {
		return reason
	}
	return reason + "; deployment chain: " + strings.Join(found.notes, "; ")
}

// put adds a chain, and forgets the oldest one beyond the limit. The caller holds c.mu.
func (c *chains) put(added *chain) {
	if c.byID[added.id] == nil {
		c.order = append(c.order, added.id)
	}
	c.byID[added.id] = added
	if len(c.order) > c.ledger.limits.Chains {
		delete(c.byID, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
}

// abandon forgets a chain whose first deployment could not be created.
func (c *chains) abandon(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
	c.order = slices.DeleteFunc(c.order, func(other string) bool { return other == id })
}

// confirm keeps a chain whose first deployment is created, and returns the commands that ask for the others.
func (c *chains) confirm(id string) (commands []*model.Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	confirmed := c.byID[id]
	if confirmed == nil {
		return nil
	}
	c.ledger.keep(confirmed.record)
	for i, block := range confirmed.blocks[1:] {
		for _, node := range block {
			commands = append(commands, &model.Command{
				PipedId: c.applications.pipedOf(node.application), ApplicationId: node.application,
				Commander: id, Type: model.Command_CHAIN_SYNC_APPLICATION,
				ChainSyncApplication: &model.Command_ChainSyncApplication{
					DeploymentChainId: id, BlockIndex: uint32(i + 1), ApplicationId: node.application,
				},
			})
		}
	}
	return commands
}

// ChainVerdict says whether a deployment of a chain may be planned now.
type ChainVerdict struct {
	Plannable    bool
	Cancel       bool
	CancelReason string
}

// verdict judges a deployment in a block of a chain. PipeCD v1: plannable
// when the block before has succeeded, to be cancelled when it has failed or when the own block
// has ended.
func (c *chains) verdict(id string, block uint32) (ChainVerdict, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.byID[id]
	if found == nil {
		return ChainVerdict{}, notFound("deployment chain %s is not found", id)
	}
	if int64(block) >= int64(len(found.blocks)) {
		return ChainVerdict{}, invalid("deployment chain %s has no block %d", id, block)
	}
	if block == 0 {
		return ChainVerdict{Plannable: true}, nil
	}
	cancel := func(which string, status model.DeploymentStatus) ChainVerdict {
		reason := fmt.Sprintf("Not deployed, because %s %s", which, endWord(status))
		return ChainVerdict{Cancel: true, CancelReason: reason}
	}
	// The block before is the cause, even where others of the own block are cancelled already.
	before := found.blockStatus(int(block) - 1)
	switch before {
	case model.DeploymentStatus_DEPLOYMENT_FAILURE, model.DeploymentStatus_DEPLOYMENT_CANCELLED:
		return cancel("the block before it in the deployment chain", before), nil
	}
	if own := found.blockStatus(int(block)); completed(own) {
		return cancel("its block of the deployment chain", own), nil
	}
	return ChainVerdict{Plannable: before == model.DeploymentStatus_DEPLOYMENT_SUCCESS}, nil
}

// endWord is how a block ended, as the verb of a sentence.
func endWord(status model.DeploymentStatus) string {
	switch status {
	case model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		return "has succeeded already"
	case model.DeploymentStatus_DEPLOYMENT_FAILURE:
		return "failed"
	default:
		return "was cancelled"
	}
}

// follow brings the node of a deployment up to date. When its block has ended, the pipeds that
// wait for it are notified.
func (c *chains) follow(d *model.Deployment) {
	if d.GetDeploymentChainId() == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	followed, block := c.byID[d.GetDeploymentChainId()], int(d.GetDeploymentChainBlockIndex())
	if followed == nil || block >= len(followed.blocks) {
		return
	}
	for _, node := range followed.blocks[block] {
		if node.application == d.GetApplicationId() && (node.deployment == "" || node.deployment == d.GetId()) {
			node.deployment, node.status = d.GetId(), d.GetStatus()
		}
	}
	c.notify(followed, block)
}

// refuse ends the node of an application that will not be deployed, so that those that wait for its
// block do not wait for ever, and notes why. PipeCD v1 lets them wait.
func (c *chains) refuse(asked *model.Command_ChainSyncApplication, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	refused := c.byID[asked.GetDeploymentChainId()]
	if refused == nil || int64(asked.GetBlockIndex()) >= int64(len(refused.blocks)) {
		return
	}
	block := int(asked.GetBlockIndex())
	for _, node := range refused.blocks[block] {
		if node.application == asked.GetApplicationId() && node.deployment == "" {
			node.status = model.DeploymentStatus_DEPLOYMENT_CANCELLED
			name := asked.GetApplicationId()
			if a, err := c.applications.Get(name); err == nil {
				name = a.GetName()
			}
			note := fmt.Sprintf("%s is not deployed: %s", name, cmp.Or(why, "piped refuses"))
			refused.notes = append(refused.notes, note)
		}
	}
	c.ledger.keep(refused.record)
	c.notify(refused, block)
}

// notify signals the pipeds that wait for a block, once it has ended. The caller holds c.mu.
func (c *chains) notify(changed *chain, block int) {
	if !completed(changed.blockStatus(block)) {
		return
	}
	for _, waiting := range changed.blocks[block:] {
		for _, node := range waiting {
			c.signals.mark(c.applications.pipedOf(node.application), deploymentsChanged)
		}
	}
}

// blockStatus is PENDING before any node runs. A block without applications follows the one before.
func (c *chain) blockStatus(i int) model.DeploymentStatus {
	if len(c.blocks[i]) == 0 {
		return c.blockStatus(i - 1)
	}
	succeeded, running := 0, false
	for _, node := range c.blocks[i] {
		switch node.status {
		case model.DeploymentStatus_DEPLOYMENT_FAILURE, model.DeploymentStatus_DEPLOYMENT_CANCELLED:
			return node.status
		case model.DeploymentStatus_DEPLOYMENT_SUCCESS:
			succeeded++
		case model.DeploymentStatus_DEPLOYMENT_PENDING:
		default:
			running = true
		}
	}
	switch {
	case succeeded == len(c.blocks[i]):
		return model.DeploymentStatus_DEPLOYMENT_SUCCESS
	case running || succeeded > 0:
		return model.DeploymentStatus_DEPLOYMENT_RUNNING
	}
	return model.DeploymentStatus_DEPLOYMENT_PENDING
}

// records emits what the journal keeps. The store is frozen.
func (c *chains) records(emit func(journal.Record)) {
	for _, id := range c.order {
		emit(c.byID[id].record())
	}
}

// keptChain is a chain as it is kept.
type keptChain struct {
	ID     string
	Blocks [][]keptNode
	Notes  []string `json:",omitempty"`
}

type keptNode struct {
	Application, Deployment string
	Status                  int32
}

func (c *chain) record() journal.Record {
	kept := keptChain{ID: c.id, Notes: c.notes}
	for _, block := range c.blocks {
		nodes := []keptNode{}
		for _, n := range block {
			nodes = append(nodes, keptNode{n.application, n.deployment, int32(n.status)})
		}
		kept.Blocks = append(kept.Blocks, nodes)
	}
	data, _ := json.Marshal(kept) // strings and numbers only
	return journal.Record{Kind: journal.Chain, ID: c.id, Model: data}
}

// restore returns the id of the chain.
func (c *chains) restore(r journal.Record) (id string, err error) {
	var kept keptChain
	if err := json.Unmarshal(r.Model, &kept); err != nil {
		return "", err
	}
	if kept.ID == "" || len(kept.Blocks) == 0 || len(kept.Blocks[0]) == 0 {
		return "", errNoID
	}
	restored := &chain{id: kept.ID, notes: kept.Notes}
	for _, block := range kept.Blocks {
		var nodes []*chainNode
		for _, n := range block {
			nodes = append(nodes, &chainNode{n.Application, n.Deployment, model.DeploymentStatus(n.Status)})
		}
		restored.blocks = append(restored.blocks, nodes)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(restored)
	return kept.ID, nil
}
