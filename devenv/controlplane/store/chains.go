// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// chain is a deployment chain: block after block of applications that are deployed together.
type chain struct {
	id     string
	blocks [][]*chainNode
}

type chainNode struct {
	application string
	// Empty until the application's piped has created it.
	deployment string
	status     model.DeploymentStatus
}

// CreateChain stores the first deployment and a block for every matcher, and asks the pipeds of
// the matching applications to deploy them in their turn.
func (s *Store) CreateChain(pipedID string, r *pipedservice.CreateDeploymentChainRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := proto.CloneOf(r.GetFirstDeployment())
	first.DeploymentChainId, first.DeploymentChainBlockIndex = cmp.Or(first.GetDeploymentChainId(), newID()), 0
	c := &chain{id: first.GetDeploymentChainId(), blocks: [][]*chainNode{{{application: first.GetApplicationId()}}}}
	for _, m := range r.GetMatchers() {
		c.blocks = append(c.blocks, s.matchingNodes(m))
	}
	if s.chains[c.id] != nil {
		return alreadyExists("deployment chain %s exists already", c.id)
	}
	s.chains[c.id] = c
	if err := s.createDeployment(pipedID, first); err != nil {
		delete(s.chains, c.id)
		return err
	}
	s.chainOrder = append(s.chainOrder, c.id)
	s.keepChain(c)
	if len(s.chainOrder) > s.limits.Chains {
		delete(s.chains, s.chainOrder[0])
		s.chainOrder = slices.Delete(s.chainOrder, 0, 1)
	}
	for i, block := range c.blocks[1:] {
		for _, node := range block {
			_, err := s.addCommand(&model.Command{
				PipedId: s.applications[node.application].model.GetPipedId(), ApplicationId: node.application,
				Commander: c.id, Type: model.Command_CHAIN_SYNC_APPLICATION,
				ChainSyncApplication: &model.Command_ChainSyncApplication{
					DeploymentChainId: c.id, BlockIndex: uint32(i + 1), ApplicationId: node.application,
				},
			})
			if err != nil {
				return fmt.Errorf("ask for the deployment of application %s in chain %s: %w", node.application, c.id, err)
			}
		}
	}
	return nil
}

// matchingNodes finds the enabled applications that agree with everything the matcher names. One
// that names nothing matches nothing.
func (s *Store) matchingNodes(m *pipedservice.CreateDeploymentChainRequest_ApplicationMatcher) []*chainNode {
	if m.GetName() == "" && m.GetKind() == "" && len(m.GetLabels()) == 0 {
		return nil
	}
	var nodes []*chainNode
	for _, a := range sorted(s.applications, func(a, b *application) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) }) {
		if a.model.GetDeleted() || a.model.GetDisabled() {
			continue
		}
		if (m.GetName() == "" || m.GetName() == a.model.GetName()) &&
			(m.GetKind() == "" || m.GetKind() == a.model.GetKind().String()) &&
			HasLabels(a.model.GetLabels(), m.GetLabels()) {
			nodes = append(nodes, &chainNode{application: a.model.GetId()})
		}
	}
	return nodes
}

// ChainVerdict says whether a deployment of a chain may be planned now.
type ChainVerdict struct {
	Plannable    bool
	Cancel       bool
	CancelReason string
}

// InChainPlannable gives the verdict for a deployment in a block of a chain. PipeCD v1: plannable
// when the block before has succeeded, to be cancelled when it has failed or when the own block
// has ended.
func (s *Store) InChainPlannable(pipedID, deploymentID, chainID string, block uint32) (ChainVerdict, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.ownedDeployment(pipedID, deploymentID); err != nil {
		return ChainVerdict{}, err
	}
	c := s.chains[chainID]
	if c == nil {
		return ChainVerdict{}, notFound("deployment chain %s is not found", chainID)
	}
	if int64(block) >= int64(len(c.blocks)) {
		return ChainVerdict{}, invalid("deployment chain %s has no block %d", chainID, block)
	}
	own := c.blockStatus(int(block))
	if block == 0 {
		return ChainVerdict{Plannable: true}, nil
	}
	if completed(own) {
		return ChainVerdict{Cancel: true, CancelReason: fmt.Sprintf("Deployment is cancelled because its chain block has ended with %s", own)}, nil
	}
	switch before := c.blockStatus(int(block) - 1); before {
	case model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		return ChainVerdict{Plannable: true}, nil
	case model.DeploymentStatus_DEPLOYMENT_FAILURE, model.DeploymentStatus_DEPLOYMENT_CANCELLED:
		return ChainVerdict{Cancel: true, CancelReason: fmt.Sprintf("Deployment is cancelled because the chain block before it has ended with %s", before)}, nil
	}
	return ChainVerdict{}, nil
}

// followChain brings the node of a deployment up to date. When its block has ended, the pipeds that
// wait for it are told to look again.
func (s *Store) followChain(d *deployment) {
	c := s.chains[d.model.GetDeploymentChainId()]
	block := int(d.model.GetDeploymentChainBlockIndex())
	if c == nil || block >= len(c.blocks) {
		return
	}
	for _, node := range c.blocks[block] {
		if node.application == d.model.GetApplicationId() && (node.deployment == "" || node.deployment == d.model.GetId()) {
			node.deployment, node.status = d.model.GetId(), d.model.GetStatus()
		}
	}
	s.tellBlocks(c, block)
}

// refuseChain ends the node of an application that will not be deployed, so that those that wait for its
// block do not wait for ever. PipeCD v1 lets them wait.
func (s *Store) refuseChain(command *model.Command) {
	asked := command.GetChainSyncApplication()
	c := s.chains[asked.GetDeploymentChainId()]
	if c == nil || int64(asked.GetBlockIndex()) >= int64(len(c.blocks)) {
		return
	}
	block := int(asked.GetBlockIndex())
	for _, node := range c.blocks[block] {
		if node.application == asked.GetApplicationId() && node.deployment == "" {
			node.status = model.DeploymentStatus_DEPLOYMENT_CANCELLED
		}
	}
	s.keepChain(c)
	s.tellBlocks(c, block)
}

// tellBlocks has the pipeds look again that wait for a block, once it has ended.
func (s *Store) tellBlocks(c *chain, block int) {
	if !completed(c.blockStatus(block)) {
		return
	}
	for _, waiting := range c.blocks[block:] {
		for _, node := range waiting {
			if a := s.applications[node.application]; a != nil {
				s.signal(a.model.GetPipedId(), deploymentsChanged)
			}
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

// HasLabels reports whether labels hold every wanted one.
func HasLabels(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}
