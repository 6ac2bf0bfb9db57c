// A surface with rings: the pixel shader that the example begins with, and the one that it puts in its place. The second one
// has another constant buffer, so that the swap changes the interface too. The initial values of constants are in the DXBC
// alone: dxc leaves them out.
//
//     fxc -T vs_5_0 -E VSMain ring.hlsl -Fo ring_vs.dxbc
//     fxc -T ps_5_0 -E Before ring.hlsl -Fo before_ps.dxbc
//     fxc -T ps_5_0 -E After ring.hlsl -Fo after_ps.dxbc
//     dxc -T vs_6_0 -E VSMain ring.hlsl -Fo ring_vs.dxil
//     dxc -T ps_6_0 -E Before ring.hlsl -Fo before_ps.dxil
//     dxc -T ps_6_0 -E After ring.hlsl -Fo after_ps.dxil

float4x4 WorldViewProjection;

cbuffer Rings : register(b1)
{
    float Frequency = 24.0;
};

cbuffer Checks : register(b2)
{
    float2 Count = float2(8.0, 8.0);
    float4 Dark = float4(0.05, 0.15, 0.45, 1.0);
};

struct Varyings
{
    float4 Position : SV_Position;
    float2 TexCoord : TEXCOORD0;
};

Varyings VSMain(float3 position : POSITION, float2 texCoord : TEXCOORD0)
{
    Varyings output;
    output.Position = mul(float4(position, 1.0), WorldViewProjection);
    output.TexCoord = texCoord;
    return output;
}

float4 Before(Varyings input) : SV_Target
{
    float ring = 0.5 + 0.5 * cos(Frequency * length(input.TexCoord - 0.5));
    return lerp(float4(0.35, 0.04, 0.02, 1.0), float4(1.0, 0.65, 0.15, 1.0), ring);
}

float4 After(Varyings input) : SV_Target
{
    float2 cell = floor(input.TexCoord * Count);
    return fmod(cell.x + cell.y, 2.0) == 0.0 ? Dark : float4(0.7, 0.9, 1.0, 1.0);
}
