// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// connectTimeout is how long a connection may take to be made. Without it gRPC allows the pause before the next try,
// which is milliseconds here, and may close a connection that a call uses already (gRPC-Go 1.85).
const connectTimeout = 5 * time.Second

// maxMessage bounds one message in bytes; piped and plugins have lower limits.
const maxMessage = 64 << 20

// Proxy passes calls on from where it listens to one address, and writes them down. Metadata, streams, errors and
// cancels go through.
type Proxy struct {
	server *grpc.Server
	conn   *grpc.ClientConn
	served chan error
	// requests are the goroutines that read them; each ends after its call.
	requests sync.WaitGroup
}

// StartProxy serves listener, which it closes, until Stop. toPlugin is whether piped calls here.
func StartProxy(listener net.Listener, address string, toPlugin bool, writer *Writer) (*Proxy, error) {
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithConnectParams(grpc.ConnectParams{ // both sides serve within milliseconds
			Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.3, Jitter: 0.2,
				MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: connectTimeout,
		}),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(rawCodec{}), grpc.WaitForReady(true),
			grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage),
		))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reach %s: %w", address, err), listener.Close())
	}
	p := &Proxy{conn: conn, served: make(chan error, 1)}
	p.server = grpc.NewServer(
		grpc.ForceServerCodecV2(rawCodec{}), grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.UnknownServiceHandler(func(_ any, from grpc.ServerStream) error { return p.pass(from, toPlugin, writer) }),
	)
	go func() { p.served <- p.server.Serve(listener) }()
	return p, nil
}

// Stop ends all calls, which are written down as they end.
func (p *Proxy) Stop() error {
	p.server.Stop() // waits for the handlers
	err := errors.Join(<-p.served, p.conn.Close())
	p.requests.Wait()
	return err
}

// pass is one call.
func (p *Proxy) pass(from grpc.ServerStream, toPlugin bool, writer *Writer) error {
	method, _ := grpc.MethodFromServerStream(from)
	call := &passing{writer: writer, toPlugin: toPlugin, began: time.Now(), streams: streams(method),
		call: Call{Seq: writer.Begin(), Method: method}}
	ctx, cancel := context.WithCancel(outgoing(from.Context()))
	defer cancel()
	to, err := p.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		call.end(err)
		return err
	}
	p.requests.Go(func() {
		for {
			var message []byte
			if err := from.RecvMsg(&message); err != nil {
				if errors.Is(err, io.EOF) {
					_ = to.CloseSend()
				} else {
					cancel()
				}
				return
			}
			call.request(message)
			if err := to.SendMsg(&message); err != nil {
				return // the other side of the loop gets the reason
			}
		}
	})
	err = answers(to, from, call)
	call.end(err)
	return err
}

// answers passes them on until the end, whose status it returns.
func answers(to grpc.ClientStream, from grpc.ServerStream, call *passing) error {
	headers := false
	for {
		var message []byte
		err := to.RecvMsg(&message)
		if !headers {
			headers = true
			if md, herr := to.Header(); herr == nil {
				_ = from.SendHeader(md)
			}
		}
		if err != nil {
			from.SetTrailer(to.Trailer())
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		call.answer(message)
		if err := from.SendMsg(&message); err != nil {
			return err
		}
	}
}

// outgoing carries the metadata of a call on.
func outgoing(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	md = md.Copy()
	for _, own := range []string{":authority", "content-type", "user-agent"} {
		delete(md, own)
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// passing is a call that goes through. The one answer of a call is written at its end, with the status.
type passing struct {
	writer   *Writer
	toPlugin bool
	began    time.Time

	mu      sync.Mutex
	call    Call
	pending []byte
	streams bool
}

func (p *passing) request(message []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.call.Request == nil {
		p.call.Request = append([]byte{}, message...)
	}
}

func (p *passing) answer(message []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams {
		p.write(message, nil, true)
		return
	}
	p.pending = append([]byte{}, message...)
}

func (p *passing) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams && err == nil {
		return
	}
	p.write(p.pending, err, false)
}

// write keeps the call; p.mu is held.
func (p *passing) write(answer []byte, err error, stream bool) {
	call := p.call
	call.Code, call.Stream, call.Millis = status.Code(err).String(), stream, max(1, time.Since(p.began).Milliseconds())
	if err != nil {
		call.Message = status.Convert(err).Message()
	} else {
		call.Response = append([]byte{}, answer...)
	}
	if call.Request == nil {
		call.Request = []byte{}
	}
	p.writer.Write(p.toPlugin, call)
}

// rawCodec leaves messages as they are on the wire.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	data, ok := v.(*[]byte)
	if !ok {
		return nil, status.Errorf(codes.Internal, "a message of %T cannot be passed on", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*data)}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	to, ok := v.(*[]byte)
	if !ok {
		return status.Errorf(codes.Internal, "a message cannot be passed on as %T", v)
	}
	*to = data.Materialize()
	return nil
}
