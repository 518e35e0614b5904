// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

const (
	chainID    = "00000000-0000-4000-8000-000000000900"
	chainBlock = 1
)

// inChain makes of a recorded deployment one of the second block of a chain, because no chain was recorded. By PipeCD's
// protocol each message about the deployment names chain and block, and piped asks for its turn until it may plan.
func inChain(recorded []call) []call {
	var list []call
	for _, c := range recorded {
		c.request = proto.Clone(c.request)
		named := []protoreflect.Message{c.request.ProtoReflect()}
		switch r := c.request.(type) {
		case *pipedservice.CreateDeploymentRequest:
			named = append(named, r.GetDeployment().ProtoReflect())
		case *deployment.ExecuteStageRequest:
			named = append(named, r.GetInput().GetDeployment().ProtoReflect())
		case interface {
			GetInput() *deployment.PlanPluginInput
		}:
			named = append(named, r.GetInput().GetDeployment().ProtoReflect())
		case *pipedservice.ReportDeploymentPlannedRequest:
			for range 2 { // it has to wait once
				list = append(list, call{link: controlPlaneLink, method: "InChainDeploymentPlannable", request: &pipedservice.InChainDeploymentPlannableRequest{
					DeploymentId: r.GetDeploymentId(), DeploymentChainId: chainID, DeploymentChainBlockIndex: chainBlock,
				}})
			}
		}
		for _, m := range named {
			if field := m.Descriptor().Fields().ByName("deployment_chain_id"); field != nil {
				m.Set(field, protoreflect.ValueOfString(chainID))
				m.Set(m.Descriptor().Fields().ByName("deployment_chain_block_index"), protoreflect.ValueOfUint32(chainBlock))
			}
		}
		for _, s := range sources(c.request) {
			s.ApplicationConfig = append(slices.Clone(s.GetApplicationConfig()), "  trigger: {onChain: {disabled: false}}\n"...)
		}
		list = append(list, c)
	}
	return list
}

// askToSyncInChain is the control plane that has come to the block of the application.
func askToSyncInChain(t *testing.T, s *stage) {
	t.Helper()
	askToSync(t, s)
	c := s.plane.commands[0]
	c.Type, c.ChainSyncApplication = model.Command_CHAIN_SYNC_APPLICATION, &model.Command_ChainSyncApplication{
		DeploymentChainId: chainID, BlockIndex: chainBlock, ApplicationId: c.GetApplicationId(),
	}
	c.SyncApplication = nil
	s.plane.turns = 1
}
