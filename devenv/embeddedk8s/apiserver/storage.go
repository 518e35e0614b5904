// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	etcdclient "go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/utils/clock"
)

// compactInterval is how long etcd keeps what was replaced or deleted, at least: kube-apiserver's default. A watch that
// was interrupted for longer begins with a list.
const compactInterval = 5 * time.Minute

// stores makes the store of each kind of object, all on one client of etcd.
//
// The stock server gives each kind a connection to etcd, and a cache with timers from which it
// answers watches. Both are for many clients and a distant etcd. Here they would be most of what an idle cluster costs.
type stores struct {
	client    *etcdclient.Client
	compactor interface {
		etcd3.Compactor
		Stop()
	}
}

// newStores begins to compact etcd, until close is called.
func newStores(client *clientv3.Client) *stores {
	wrapped := &etcdclient.Client{Client: client}
	wrapped.Kubernetes = wrapped
	return &stores{wrapped, etcd3.NewCompactor(client, compactInterval, clock.RealClock{}, nil)}
}

func (s *stores) close() { s.compactor.Stop() }

// use makes each server of the chain, custom resources included, take its stores from s.
func (s *stores) use(config *app.Config) {
	extensions := config.ApiExtensions
	for _, options := range []*generic.RESTOptionsGetter{
		&config.KubeAPIs.ControlPlane.Generic.RESTOptionsGetter,
		&extensions.GenericConfig.RESTOptionsGetter,
		&extensions.ExtraConfig.CRDRESTOptionsGetter,
		&config.Aggregator.GenericConfig.RESTOptionsGetter,
	} {
		*options = storeOptions{*options, s}
	}
}

// storeOptions are the options of a server, but for where the stores come from.
type storeOptions struct {
	generic.RESTOptionsGetter

	stores *stores
}

func (o storeOptions) GetRESTOptions(
	resource schema.GroupResource, example runtime.Object,
) (generic.RESTOptions, error) {
	options, err := o.RESTOptionsGetter.GetRESTOptions(resource, example)
	options.Decorator = o.stores.open()
	return options, err
}

// open opens the store of one kind.
func (s *stores) open() generic.StorageDecorator {
	return func(
		config *storagebackend.ConfigForResource, prefix string, _ func(runtime.Object) (string, error),
		newObject, newList func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		transformer := config.Transformer
		if transformer == nil {
			transformer = identity.NewEncryptCheckTransformer()
		}
		versioner := storage.APIObjectVersioner{}
		opened, err := etcd3.New(
			s.client, s.compactor, config.Codec, newObject, newList, config.Prefix, prefix, config.GroupResource,
			transformer, config.LeaseManagerConfig, etcd3.NewDefaultDecoder(config.Codec, versioner), versioner,
		)
		if err != nil {
			return nil, nil, err
		}
		return store{opened}, opened.Close, nil
	}
}

// store is the objects of one kind in etcd.
type store struct{ storage.Interface }

// Watch reports to a client that allows bookmarks how far it has come, as the stock server does from its cache.
// Without bookmarks a client that watches a quiet kind would have to list it again when its connection has ended.
func (s store) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	options.ProgressNotify = options.ProgressNotify || options.Predicate.AllowWatchBookmarks
	return s.Interface.Watch(ctx, key, options)
}
