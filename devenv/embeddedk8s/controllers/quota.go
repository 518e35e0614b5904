// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/quota/v1/install"
)

const (
	// What a quota's status says of its use is counted again from then on; changes are counted at once.
	quotaResync = 5 * time.Minute
	// New kinds of objects are counted from then on. kube-controller-manager's default.
	quotaKinds = 30 * time.Second
)

// quotas returns the controller that counts what a ResourceQuota bounds. The API server's admission refuses what is
// more.
func (m *maker) quotas(ctx context.Context) ([]loop, error) {
	configuration, err := install.NewQuotaConfigurationForControllers(
		generic.ListerFuncForResourceFunc(m.informers.ForResource), m.informers,
	)
	if err != nil {
		return nil, fmt.Errorf("configure the quota controller: %w", err)
	}
	kinds := m.kinds.ServerPreferredNamespacedResources
	never := func() time.Duration { return 0 }
	quotas, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               m.client.CoreV1(),
		ResourceQuotaInformer:     m.informers.Core().V1().ResourceQuotas(),
		ResyncPeriod:              func() time.Duration { return quotaResync },
		Registry:                  generic.NewRegistry(configuration.Evaluators()),
		DiscoveryFunc:             kinds,
		IgnoredResourcesFunc:      configuration.IgnoredResources,
		InformersStarted:          m.started,
		InformerFactory:           m.all,
		ReplenishmentResyncPeriod: never,
		UpdateFilter:              install.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, fmt.Errorf("create quota controller: %w", err)
	}
	return []loop{
		{"resource-quota", func(ctx context.Context) { quotas.Run(ctx, workers) }},
		{"resource-quota-kinds", func(ctx context.Context) { quotas.Sync(ctx, kinds, quotaKinds) }},
	}, nil
}
