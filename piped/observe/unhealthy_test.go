// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestAnUnhealthyApplicationSaysWhichResourceIsTheCause(t *testing.T) {
	t.Parallel()
	resource := func(kind, why string, health model.ResourceState_HealthStatus) *model.ResourceState {
		return &model.ResourceState{ResourceType: kind, Name: "web", HealthStatus: health, HealthDescription: why}
	}
	require.Empty(t, unhealthy(nil))
	require.Equal(t, "Pod web: ImagePullBackOff (and 1 more)", unhealthy([]*model.ResourceState{
		resource("Deployment", "Ready: 1/2", model.ResourceState_UNHEALTHY),
		resource("Pod", "ImagePullBackOff", model.ResourceState_UNHEALTHY),
		resource("Service", "", model.ResourceState_HEALTHY),
	}))
	leaving := resource("ConfigMap", "is Terminating, held by the finalizer x", model.ResourceState_UNHEALTHY)
	leaving.ResourceMetadata = map[string]string{"Namespace": "shop"}
	require.Equal(t, "ConfigMap shop/web is Terminating, held by the finalizer x",
		unhealthy([]*model.ResourceState{leaving}))
	require.Equal(t, "Pod web is unhealthy",
		unhealthy([]*model.ResourceState{resource("Pod", "", model.ResourceState_UNHEALTHY)}))
}
