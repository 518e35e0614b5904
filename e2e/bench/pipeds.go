// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
)

const (
	manyPipeds = 100
	// eachPiped is the number of applications of one piped.
	eachPiped = 100
	// registrationWindow is the number of registrations whose median is compared.
	registrationWindow = 100
	// registrationRatio is what the last registrations may take of the first ones.
	registrationRatio = 2
)

// benchPipeds registers pipeds, each with applications, at a control plane that keeps its state: one call for each
// application, as in repositories that grow.
func benchPipeds(ctx context.Context, _, dir string) (err error) {
	apiKey := "bench." + rand.Text()
	server, err := controlplane.New(controlplane.Config{
		ProjectID: "bench", PipedID: "own", PipedName: "own", PipedKey: rand.Text(), APIKey: apiKey,
		KeepFile: filepath.Join(dir, "history"),
	})
	if err != nil {
		return err
	}
	address, stop, err := serve(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	user, err := client.Dial(address, apiKey)
	if err != nil {
		return err
	}
	defer user.Close()

	var took []time.Duration
	for i := range manyPipeds {
		registered, err := apiservice.NewAPIServiceClient(user).RegisterPiped(ctx,
			&apiservice.RegisterPipedRequest{Name: fmt.Sprint("piped-", i)})
		if err != nil {
			return err
		}
		more, err := registerApplications(ctx, address, registered.GetId(), registered.GetKey())
		if err != nil {
			return fmt.Errorf("piped %d: %w", i, err)
		}
		took = append(took, more...)
	}
	first, last := took[registrationWindow/2:registrationWindow*3/2], took[len(took)-registrationWindow:]
	figures("register an application, around the 100th", first)
	figures(fmt.Sprintf("the same, around the %dth", len(took)), last)
	number("the last as a ratio to the first, medians", "times", median(last)/median(first),
		limit{"median", registrationRatio})
	return nil
}

// registerApplications is the life of a piped whose repository gets one application after the other.
func registerApplications(ctx context.Context, address, id, key string) ([]time.Duration, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "PIPED-TOKEN bench,"+id+","+key)
	piped := pipedservice.NewPipedServiceClient(conn)
	if _, err := piped.ReportPipedMeta(ctx, &pipedservice.ReportPipedMetaRequest{
		Repositories: []*model.ApplicationGitRepository{{Id: "repo", Remote: "/srv/" + id, Branch: "main"}},
		Plugins:      []*model.Piped_Plugin{{Name: "kubernetes", DeployTargets: []string{"local"}}},
	}); err != nil {
		return nil, err
	}
	var took []time.Duration
	for i := range eachPiped {
		name := fmt.Sprint("app-", i)
		began := time.Now()
		if _, err := piped.ReportUnregisteredApplicationConfigurations(ctx,
			&pipedservice.ReportUnregisteredApplicationConfigurationsRequest{
				Applications: []*model.ApplicationInfo{{Name: name, RepoId: "repo", Path: name, PipedId: id}},
			}); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	listed, err := piped.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err == nil && len(listed.GetApplications()) != eachPiped {
		err = fmt.Errorf("%d of %d applications are registered", len(listed.GetApplications()), eachPiped)
	}
	return took, err
}

func median(of []time.Duration) float64 {
	of = slices.Sorted(slices.Values(of))
	return float64(of[len(of)/2])
}

// serve runs a control plane until stop is called, which returns its error.
func serve(ctx context.Context, server *controlplane.Server) (address string, stop func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx, listener) }()
	return listener.Addr().String(), func() error {
		cancel()
		return <-served
	}, nil
}
