// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
)

// services calls one method of each service and returns the codes.
func services(t *testing.T, conn *grpc.ClientConn) map[string]codes.Code {
	t.Helper()
	ctx := testContext(t)
	_, piped := pipedservice.NewPipedServiceClient(conn).ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	_, api := apiservice.NewAPIServiceClient(conn).ListApplications(ctx, &apiservice.ListApplicationsRequest{})
	_, plugins := agentv1.NewAgentServiceClient(conn).ReportPlugins(ctx, &agentv1.ReportPluginsRequest{})
	deck, err := deckv1.NewDeckServiceClient(conn).Watch(ctx, &deckv1.WatchRequest{})
	require.NoError(t, err)
	_, watch := deck.Recv()
	return map[string]codes.Code{
		"piped": status.Code(piped), "api": status.Code(api), "agent": status.Code(plugins), "deck": status.Code(watch),
	}
}

func TestCredentialsOpenTheServicesTheyAreFor(t *testing.T) {
	t.Parallel()
	p := start(t)
	noAccess := map[string]codes.Code{
		"piped": codes.Unauthenticated, "agent": codes.Unauthenticated, "api": codes.Unauthenticated,
		"deck": codes.Unauthenticated,
	}
	asPiped := map[string]codes.Code{"piped": codes.OK, "agent": codes.OK, "api": codes.Unauthenticated,
		"deck": codes.Unauthenticated}
	asUser := map[string]codes.Code{"piped": codes.Unauthenticated, "agent": codes.Unauthenticated, "api": codes.OK,
		"deck": codes.OK}
	for name, c := range map[string]struct {
		authorization string
		want          map[string]codes.Code
	}{
		"a piped token":                     {pipedToken, asPiped},
		"an API key":                        {"API-KEY " + apiKey, asUser},
		"no credentials":                    {"", noAccess},
		"a kind alone":                      {"API-KEY", noAccess},
		"an unknown kind":                   {"Bearer " + apiKey, noAccess},
		"a kind in lower case":              {"api-key " + apiKey, noAccess},
		"an API key with the wrong secret":  {"API-KEY " + keyID + "." + strings.Repeat("B", 32), noAccess},
		"an API key with two dots":          {"API-KEY " + apiKey + ".x", noAccess},
		"an API key with a space":           {"API-KEY " + apiKey + " x", noAccess},
		"an API key without an id":          {"API-KEY ." + strings.Repeat("A", 32), noAccess},
		"a piped token with the wrong key":  {"PIPED-TOKEN proj," + pipedID + ",x", noAccess},
		"a piped token of another piped":    {"PIPED-TOKEN proj,other," + pipedKey, noAccess},
		"a piped token of another project":  {"PIPED-TOKEN other," + pipedID + "," + pipedKey, noAccess},
		"a piped token with an empty part":  {"PIPED-TOKEN ," + pipedID + "," + pipedKey, noAccess},
		"a piped token with a part more":    {pipedToken + ",x", noAccess},
		"a piped token labelled an API key": {"API-KEY " + strings.TrimPrefix(pipedToken, "PIPED-TOKEN "), noAccess},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, services(t, dial(t, p.address, c.authorization)))
		})
	}
}

func TestRefusalsDoNotSayWhatWasWrong(t *testing.T) {
	t.Parallel()
	p := start(t)
	conn := dial(t, p.address, "PIPED-TOKEN proj,"+pipedID+",x")
	_, err := pipedservice.NewPipedServiceClient(conn).ListApplications(testContext(t),
		&pipedservice.ListApplicationsRequest{})
	require.Equal(t, "Unauthenticated", status.Convert(err).Message())
}

func TestHealthNeedsNoCredentialsAndUnknownServicesAreClosed(t *testing.T) {
	t.Parallel()
	p := start(t)
	conn := dial(t, p.address, "")
	answer, err := healthpb.NewHealthClient(conn).Check(testContext(t), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, answer.GetStatus())
	err = conn.Invoke(testContext(t), "/grpc.reflection.v1.ServerReflection/X", &healthpb.HealthCheckRequest{},
		&healthpb.HealthCheckResponse{})
	requireCode(t, codes.Unimplemented, err)
}

func TestADisabledPipedIsKeptOutUntilItIsEnabled(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := testContext(t)
	_, err := p.api.DisablePiped(ctx, &apiservice.DisablePipedRequest{PipedId: pipedID})
	require.NoError(t, err)
	_, err = p.piped.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	requireCode(t, codes.Unauthenticated, err)
	_, err = p.api.EnablePiped(ctx, &apiservice.EnablePipedRequest{PipedId: pipedID})
	require.NoError(t, err)
	_, err = p.piped.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
}

func TestARegisteredPipedGetsInAndReachesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)
	ctx := testContext(t)
	r, err := p.api.RegisterPiped(ctx, &apiservice.RegisterPipedRequest{Name: "second"})
	require.NoError(t, err)
	require.Len(t, r.GetKey(), 50)
	second := pipedservice.NewPipedServiceClient(dial(t, p.address, "PIPED-TOKEN proj,"+r.GetId()+","+r.GetKey()))
	_, err = second.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: id("3")})
	requireCode(t, codes.PermissionDenied, err)
	_, err = second.GetDeployment(ctx, &pipedservice.GetDeploymentRequest{Id: "nope"})
	requireCode(t, codes.NotFound, err)
	_, err = second.ReportApplicationDeployingStatus(ctx,
		&pipedservice.ReportApplicationDeployingStatusRequest{ApplicationId: id("2")})
	requireCode(t, codes.PermissionDenied, err)
	apps, err := second.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Empty(t, apps.GetApplications())
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	p := start(t)
	_, err := p.piped.GetDeployment(testContext(t), &pipedservice.GetDeploymentRequest{})
	requireCode(t, codes.InvalidArgument, err)
	require.Contains(t, err.Error(), "invalid request: ")
}

func TestAConfigurationWithoutSecretsIsRefused(t *testing.T) {
	t.Parallel()
	_, err := controlplane.New(controlplane.Config{ProjectID: "p"})
	require.ErrorContains(t, err, "APIKey is empty")
	_, err = controlplane.New(controlplane.Config{ProjectID: "p", PipedID: "i", PipedName: "n", PipedKey: "k",
		APIKey: "nodot"})
	require.ErrorContains(t, err, "<id>.<secret>")
}

func TestTheClientSendsItsKeyToThisMachineOnly(t *testing.T) {
	t.Parallel()
	_, err := client.Dial("192.0.2.1:80", apiKey)
	require.ErrorContains(t, err, "127.0.0.1")
	_, err = client.Dial("nonsense", apiKey)
	require.ErrorContains(t, err, "host:port")
}

func TestStoppingEndsStreamsAndReturns(t *testing.T) {
	t.Parallel()
	p := start(t)
	v := p.watch(t, true)
	p.stop()
	var err error
	for err == nil {
		_, err = v.stream.Recv()
	}
	require.NotErrorIs(t, err, io.EOF)
	requireCode(t, codes.Unavailable, err)
}

func TestShutdownAnswersBeforeItCallsBack(t *testing.T) {
	t.Parallel()
	called := make(chan bool, 1)
	p := start(t, func(c *controlplane.Config) {
		c.Shutdown = func(r *deckv1.ShutdownRequest) { called <- r.GetRemove() }
	})
	_, err := p.deck.Shutdown(testContext(t), &deckv1.ShutdownRequest{Remove: true})
	require.NoError(t, err)
	require.True(t, <-called)
}
