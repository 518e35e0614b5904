// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
)

func TestEveryCallCarriesTheToken(t *testing.T) {
	t.Parallel()
	server := newFakeServer()
	client := server.client(t, &eagerClock{})
	_, err := client.ListApplications(t.Context(), &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Equal(t, []string{"PIPED-TOKEN dev,p,k"}, server.authorizations)
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	server := newFakeServer()
	address := server.serve(t)
	for limit, want := range map[int]codes.Code{1: codes.ResourceExhausted, 0: codes.OK} {
		client := dialTest(t, Options{
			Address: address, ProjectID: "dev", PipedID: "p", Key: []byte("k"), Insecure: true, MaxReceiveBytes: limit,
			Clock: &eagerClock{},
		})
		_, err := client.ListApplications(t.Context(), &pipedservice.ListApplicationsRequest{})
		require.Equal(t, want, status.Code(err), "limit %d: %v", limit, err)
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	good := Options{Address: "127.0.0.1:1", ProjectID: "dev", PipedID: "p", Key: []byte("k"), Insecure: true}
	for name, c := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"no port":             {func(o *Options) { o.Address = "localhost" }, "host:port"},
		"no key":              {func(o *Options) { o.Key = []byte(" \n") }, "the piped key is empty"},
		"a comma in the id":   {func(o *Options) { o.PipedID = "a,b" }, "comma"},
		"a space in the key":  {func(o *Options) { o.Key = []byte("a b") }, "white space"},
		"both kinds":          {func(o *Options) { o.CertFile = "x" }, "not both"},
		"no certificate file": {func(o *Options) { o.Insecure = false; o.CertFile = "/nowhere" }, "/nowhere"},
	} {
		o := good
		c.change(&o)
		_, err := Dial(o)
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestTLSTrustsTheGivenAuthorityOnly(t *testing.T) {
	t.Parallel()
	certificate, file := selfSigned(t)
	server := newFakeServer()
	address := server.serve(t, grpc.Creds(credentials.NewServerTLSFromCert(certificate)))
	o := Options{Address: address, ProjectID: "dev", PipedID: "p", Key: []byte("k"), CertFile: file,
		Clock: &eagerClock{}}
	outcome := func() (err error) {
		client := dialTest(t, o)
		require.Eventually(t, func() bool {
			_, err = client.ListApplications(t.Context(), &pipedservice.ListApplicationsRequest{})
			return err == nil || !strings.Contains(err.Error(), "handshake failed: context deadline exceeded")
		}, time.Minute, time.Millisecond, "the machine is too slow for the bound of a handshake")
		return err
	}
	require.NoError(t, outcome())

	o.CertFile = ""
	require.ErrorContains(t, outcome(), "certificate")
}

func TestPassingFailuresAreTriedAgainWithGrowingPauses(t *testing.T) {
	t.Parallel()
	server, clock := newFakeServer(), &eagerClock{}
	for range triesPassing - 1 {
		server.answers <- status.Error(codes.Unavailable, "restarting")
	}
	_, err := server.client(t, clock).ListApplications(t.Context(), &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Equal(t, triesPassing, server.callCount())
	for _, pause := range clock.pauses {
		require.LessOrEqual(t, pause, longestPause)
	}
}

func TestTriesAreBoundedByTheKindOfFailure(t *testing.T) {
	t.Parallel()
	for code, want := range map[codes.Code]int{
		codes.Unavailable: triesPassing, codes.Aborted: triesFailing, codes.Internal: triesFailing,
		codes.Unknown:  triesFailing,
		codes.DataLoss: triesFailing, codes.ResourceExhausted: triesFailing, codes.Canceled: 1, codes.OutOfRange: 1,
		codes.InvalidArgument: 1, codes.NotFound: 1, codes.AlreadyExists: 1, codes.PermissionDenied: 1,
		codes.FailedPrecondition: 1, codes.Unimplemented: 1, codes.Unauthenticated: 1,
	} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			server := newFakeServer()
			for range 50 {
				server.answers <- status.Error(code, "no")
			}
			_, err := server.client(t, &eagerClock{}).ListApplications(t.Context(),
				&pipedservice.ListApplicationsRequest{})
			require.Equal(t, code, status.Code(err))
			require.Equal(t, want, server.callCount())
		})
	}
}

func TestTryingEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	server := newFakeServer()
	server.answers <- status.Error(codes.Unavailable, "restarting")
	clock := &steppedClock{waiting: make(chan pause, 10)}
	client := server.client(t, clock)
	ctx, stop := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := client.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
		done <- err
	}()
	<-clock.waiting
	stop(errors.New("enough"))
	require.Equal(t, codes.Unavailable, status.Code(<-done))
	require.Equal(t, 1, server.callCount())
}

// selfSigned makes a certificate for 127.0.0.1 and a file that holds it.
func selfSigned(t *testing.T) (*tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}
